// The real clients, as Debian has them: python3-ironicclient, python3-openstackclient, python3-osc-placement,
// python3-openstacksdk. Where they aren't installed, this is skipped.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Baremetal } from '../support/baremetal.ts'
import { type Server, startServer } from '../support/server.ts'
import { missing, runClient } from './openstack.ts'

const skip = missing('python3-ironicclient', 'python3-openstackclient', 'python3-osc-placement', 'python3-openstacksdk')

void describe('the real clients', { skip }, () => {
  let folder = ''
  let server: Server
  let api: Baremetal
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-clients-'))
    server = await startServer(`sqlite:${join(folder, 'holdfast.db')}`, { auth: 'none' })
    api = new Baremetal(server.origin)
  })
  after(async () => {
    api.close()
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  const client = async (command: 'baremetal' | 'openstack', path: string, words: string) => {
    const args = ['--os-auth-type', 'none', '--os-endpoint', server.origin + path, ...words.split(' ')]
    return (await runClient(command, args)).trim()
  }
  const baremetal = (words: string) => client('baremetal', '/baremetal', words)
  const openstack = (words: string) => client('openstack', '/baremetal', words)
  const placement = (words: string) => client('openstack', '/placement', `--os-placement-api-version 1.39 ${words}`)
  const state = () => baremetal('node show n1 -f value -c provision_state')

  void test('baremetal: the life of a node', async () => {
    await baremetal('node create --driver fake-hardware --name n1 --resource-class gpu-a --property cpus=8')
    assert.equal(await state(), 'enroll')
    await baremetal('node manage n1 --wait 30')
    await baremetal('node provide n1 --wait 30')
    assert.equal(await state(), 'available')
    await baremetal('node add trait n1 CUSTOM_RED HW_CPU_X86_VMX')
    assert.deepEqual(JSON.parse(await baremetal('node trait list n1 -f json')), [
      { Traits: 'CUSTOM_RED' },
      { Traits: 'HW_CPU_X86_VMX' },
    ])
    const listed = JSON.parse(await baremetal('node list --fields uuid name traits -f json'))
    assert.deepEqual([listed[0].Name, listed[0].Traits], ['n1', ['CUSTOM_RED', 'HW_CPU_X86_VMX']])
    await baremetal('node deploy n1 --wait 30')
    assert.equal(await state(), 'active')
    await baremetal('node undeploy n1 --wait 30')
    assert.equal(await state(), 'available')
    await baremetal('node maintenance set n1 --reason why')
    assert.equal(await baremetal('node show n1 -f value -c maintenance_reason'), 'why')
    await baremetal('node maintenance unset n1')
    await baremetal('node power on n1')
    const history = JSON.parse(await baremetal('node history list n1 --long -f json'))
    const last = history.at(-1)
    assert.deepEqual([last.Severity, last['Event Origin Type']], ['INFO', 'power'], JSON.stringify(last))
    assert.match(await baremetal(`node history get n1 ${last.UUID} -f value -c event`), /^(Asked for|Power changed)/)
    assert.match(await baremetal('node validate n1 -f json'), /"Interface": "deploy",\s+"Result": true/)
    assert.equal(JSON.parse(await baremetal('driver list -f json'))[0]['Supported driver(s)'], 'fake-hardware')
    assert.equal(JSON.parse(await baremetal('conductor list -f json'))[0].Alive, true)
  })

  void test('openstack: the same nodes, and as resource providers', async () => {
    const [node] = JSON.parse(await openstack('baremetal node list -f json'))
    assert.equal(node.Name, 'n1')
    const [provider] = JSON.parse(await placement('resource provider list -f json'))
    assert.deepEqual([provider.uuid, provider.name], [node.UUID, node.UUID])
    const [inventory] = JSON.parse(await placement(`resource provider inventory list ${node.UUID} -f json`))
    assert.deepEqual([inventory.resource_class, inventory.total, inventory.reserved], ['CUSTOM_GPU_A', 1, 0])
    const traits = JSON.parse(await placement(`resource provider trait list ${node.UUID} -f json`))
    assert.deepEqual(traits, [{ name: 'CUSTOM_RED' }, { name: 'HW_CPU_X86_VMX' }])
    await assert.rejects(placement(`resource provider delete ${node.UUID}`), /belongs to baremetal/)
  })

  void test('openstacksdk: the life of a node', async () => {
    const script = `
import openstack, sys
conn = openstack.connect(auth_type='none', endpoint=sys.argv[1], baremetal_endpoint_override=sys.argv[1])
b = conn.baremetal
node = b.create_node(driver='fake-hardware', name='sdk', resource_class='x', provision_state='available')
assert node.provision_state == 'available', node.provision_state
b.set_node_traits(node, ['CUSTOM_A', 'CUSTOM_B'])
b.remove_node_trait(node, 'CUSTOM_B')
assert b.get_node(node).traits == ['CUSTOM_A'], b.get_node(node).traits
assert [n.name for n in b.nodes(provision_state='available', fields=['name'], is_maintenance=False, associated=False)] == ['n1', 'sdk']
assert len(list(b.nodes(limit=1))) == 2
b.update_node(node, extra={'a': 1})
b.set_node_provision_state(node, 'active', wait=True)
b.set_node_power_state(node, 'power off', wait=True)
port = b.create_port(node_uuid=node.id, address='52:54:00:12:34:56')
assert [p.id for p in b.ports(node=node.id)] == [port.id]
assert b.validate_node(node)['deploy'].result
assert list(b.drivers())[0].name == 'fake-hardware'
b.set_node_maintenance(node, 'x')
b.unset_node_maintenance(node)
b.set_node_provision_state(node, 'deleted', wait=True)
b.delete_node(node)
assert b.find_node('sdk') is None
print('done')
`
    const printed = await runClient('python', ['-c', script, `${server.origin}/baremetal`])
    assert.equal(printed.trim(), 'done')
  })

  void test('and the node goes', async () => {
    await baremetal('node remove trait --all n1')
    await baremetal('node delete n1')
    assert.equal(await baremetal('node list -f value'), '')
    await api.fsck()
  })
})
