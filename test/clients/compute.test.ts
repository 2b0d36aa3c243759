// Flavors, hypervisors and servers with the real clients: the `openstack` command and openstacksdk.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { eachCompute } from '../support/compute.ts'
import { missing, openstack, runClient } from './openstack.ts'

const skip = missing('python3-openstackclient', 'python3-novaclient', 'python3-openstacksdk')
const BARE = {
  'resources:VCPU': '0',
  'resources:MEMORY_MB': '0',
  'resources:DISK_GB': '0',
  'resources:CUSTOM_GPU': '1',
}

describe('openstack for compute', { skip }, () => {
  eachCompute(
    'without a catalog',
    api => {
      const words = (text: string) => openstack(`${api.origin}/compute/v2.1`, ...text.split(' '))
      const json = (text: string) => words(`${text} -f json`)

      test('openstack flavor', async () => {
        await words('flavor create --vcpus 2 --ram 1024 --disk 5 --property resources:CUSTOM_A=0 small')
        await words('flavor create --private --vcpus 1 --ram 64 --disk 1 hidden')
        const listed = (await json('flavor list --all')) as { Name: string; 'Is Public': boolean }[]
        assert.deepEqual(
          listed.map(flavor => [flavor.Name, flavor['Is Public']]).toSorted((a, b) => (a[0]! < b[0]! ? -1 : 1)),
          [
            ['hidden', false],
            ['small', true],
          ],
        )
        await words('flavor set --property trait:HW_CPU_X86_VMX=forbidden small')
        const shown = (await json('flavor show small')) as { properties: object; vcpus: number }
        assert.deepEqual(shown.properties, { 'resources:CUSTOM_A': '0', 'trait:HW_CPU_X86_VMX': 'forbidden' })
        await words('flavor unset --property trait:HW_CPU_X86_VMX small')
        await words('flavor delete hidden')
      })

      test('openstack hypervisor and compute service', async () => {
        const name = await api.hypervisor()
        const [listed] = (await json('hypervisor list')) as Record<string, unknown>[]
        assert.deepEqual([listed!['Hypervisor Hostname'], listed!['State']], [name, 'up'])
        assert.equal(((await json(`hypervisor show ${name}`)) as { vcpus: number }).vcpus, 8)
        await words(`compute service set --disable --disable-reason disks ${name} nova-compute`)
        const [service] = (await json('compute service list')) as Record<string, unknown>[]
        assert.deepEqual([service!['Host'], service!['Status']], [name, 'disabled'])
        await words(`compute service set --enable ${name} nova-compute`)
      })

      test('openstacksdk: the life of a server', async () => {
        const script = `
import openstack, sys
origin = sys.argv[1]
conn = openstack.connect(auth_type='none', endpoint=origin + '/compute/v2.1',
    compute_endpoint_override=origin + '/compute/v2.1', image_endpoint_override=origin + '/image')
c = conn.compute
flavor = c.find_flavor('small')
image = conn.image.find_image('cirros')
server = c.create_server(name='vm1', flavor_id=flavor.id, image_id=image.id, networks=None)
server = c.wait_for_server(server)
assert server.status == 'ACTIVE', server.status
assert [s.name for s in c.servers()] == ['vm1']
assert c.find_server('vm1').id == server.id
c.set_server_metadata(server, a='b')
assert c.get_server_metadata(server).metadata == {'a': 'b'}
c.stop_server(server)
c.wait_for_server(server, status='SHUTOFF')
c.start_server(server)
assert [h.name for h in c.hypervisors()] == [server.hypervisor_hostname]
assert c.get_limits().absolute.instances == -1
c.delete_server(server)
c.wait_for_delete(server)
print('done')
`
        assert.equal((await runClient('python', ['-c', script, api.origin])).trim(), 'done')
      })
    },
    { auth: 'none' },
  )

  eachCompute(
    'with the catalog of identity',
    api => {
      let env: NodeJS.ProcessEnv
      before(async () => {
        const url = `${api.origin}/identity/v3`
        env = {
          ...process.env,
          OS_AUTH_URL: url,
          OS_USERNAME: 'admin',
          OS_PASSWORD: 'any',
          OS_PROJECT_NAME: 'admin',
          OS_USER_DOMAIN_NAME: 'Default',
          OS_PROJECT_DOMAIN_NAME: 'Default',
        }
      })
      const words = (text: string) => runClient('openstack', text.split(' '), env)
      const json = async (text: string) => JSON.parse(await words(`${text} -f json`)) as Record<string, unknown>

      test('the story of a server, and of one on bare metal', async () => {
        const hosts = [await api.hypervisor(), await api.hypervisor()]
        await words('flavor create --vcpus 2 --ram 1024 --disk 5 small')
        const made = await json('server create --flavor small --image cirros --wait vm1')
        assert.equal(made['status'], 'ACTIVE')
        assert.match(await words('server list'), /vm1 .*ACTIVE .*cirros .*small/)
        await words('server migrate --wait vm1')
        await words('server migration confirm vm1')
        await words('server migrate --live-migration --wait vm1')
        assert.match(await words('server migration list'), /confirmed/)
        await words('server set --name vm2 --property a=b vm1')
        await words('server stop vm2')
        await words('server start vm2')
        const shown = await json('server show vm2')
        assert.ok(hosts.includes(shown['OS-EXT-SRV-ATTR:host'] as string))
        await words('server delete --wait vm2')
        await assert.rejects(words('server show vm2'), /No server with a name or ID/)

        await words('server create --flavor small --image cirros --availability-zone nova vm3')
        await api.flavor({ name: 'huge', vcpus: 1000 })
        assert.match(await words('server create --flavor huge --image cirros --wait vm4'), /Error creating server/)
        assert.match(JSON.stringify((await json('server show vm4'))['fault']), /No valid host was found/)

        await api.baremetal.node({ resource_class: 'gpu' }, 'available')
        await api.flavor({ name: 'bare' }, BARE)
        await words('server create --flavor bare --image cirros --wait trainer')
        await words('server delete --wait trainer vm3 vm4')
        assert.equal((await words('server list -f value')).trim(), '')
        await api.fsck()
      })
    },
    { auth: 'none' },
  )
})
