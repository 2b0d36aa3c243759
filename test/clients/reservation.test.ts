// The real reservation client, as Debian has it: python3-blazarclient under python3-openstackclient, with
// python3-osc-placement to look on. Where they aren't installed, this is skipped.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { Baremetal } from '../support/baremetal.ts'
import { classOf, Reservation, type Shown } from '../support/reservation.ts'
import { runHoldfast, type Server, spawnServer, startServer } from '../support/server.ts'
import { missing, openstack, runClient } from './openstack.ts'

const run = promisify(execFile)
const skip = missing('python3-openstackclient', 'python3-blazarclient', 'python3-osc-placement')

void describe('openstack reservation', { skip }, () => {
  let folder = ''
  let server: Server
  const api = new Reservation()
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-clients-'))
    server = await startServer(`sqlite:${join(folder, 'holdfast.db')}`, { auth: 'none', testClock: true })
    api.at(server.origin)
    await api.computeNode('compute-1')
    await api.computeNode('compute-2')
  })
  after(async () => {
    api.close()
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  const reservation = (...words: string[]) =>
    openstack(`${server.origin}/reservation/v1`, 'reservation', ...words) as Promise<Shown>
  /** What it shows; before that it may say what it has done. */
  const asJson = async (...words: string[]): Promise<Shown> => {
    const text: string = await reservation(...words, '--format=json')
    return JSON.parse(text.slice(text.search(/^[[{]/m)))
  }
  const placement = (...words: string[]) =>
    openstack(`${server.origin}/placement`, 'resource', 'provider', ...words, '-f', 'json') as Promise<Shown>

  void test('hosts: create, list, show by id and by name, set, properties', async () => {
    const created = await asJson('host', 'create', 'compute-1', '--extra', 'gpu=yes')
    assert.deepEqual([created.hypervisor_hostname, created.gpu, created.vcpus], ['compute-1', 'yes', 8])
    await reservation('host', 'create', 'compute-2')
    const listed = await asJson('host', 'list')
    assert.deepEqual(
      listed.map((host: Shown) => [host.hypervisor_hostname, host.vcpus, host.memory_mb, host.local_gb]),
      [
        ['compute-1', 8, 16_384, 200],
        ['compute-2', 8, 16_384, 200],
      ],
    )
    const shown = await asJson('host', 'show', 'compute-1')
    assert.equal(shown.id, created.id)
    assert.deepEqual(await asJson('host', 'show', created.id), shown)
    await reservation('host', 'set', 'compute-1', '--extra', 'gpu=no', '--extra', 'rack=r7')
    const set = await asJson('host', 'show', 'compute-1')
    assert.deepEqual([set.gpu, set.rack], ['no', 'r7'])
    assert.match(JSON.stringify(await asJson('host', 'property', 'list', '--detail')), /gpu/)
    await reservation('host', 'property', 'set', 'rack', '--private')
    assert.doesNotMatch(JSON.stringify(await asJson('host', 'property', 'list')), /rack/)
    await reservation('host', 'property', 'set', 'rack', '--public')
    await assert.rejects(reservation('host', 'create', 'compute-1'), /compute-1/)
    await assert.rejects(reservation('host', 'create', 'no-such-host'), /no-such-host/)
  })

  const instances = 'resource_type=virtual:instance,vcpus=2,memory_mb=1024,disk_gb=5,amount=6'
  let id = ''

  void test('a lease for instances: create, show, list', async () => {
    const dates = ['--start-date', await api.date(10), '--end-date', await api.date(120)]
    const created = await asJson('lease', 'create', '--reservation', instances, ...dates, 'story')
    assert.deepEqual([created.name, created.status], ['story', 'PENDING'])
    const shown = await asJson('lease', 'show', 'story')
    assert.equal(shown.id, created.id)
    const [listed] = await asJson('lease', 'list')
    assert.deepEqual([listed.id, listed.name], [created.id, 'story'])
    const lease = await api.show(created.id)
    id = lease.reservations[0].id
    assert.deepEqual([lease.reservations[0].amount, lease.reservations[0].affinity], [6, null])
  })

  void test('a lease: set, with dates, durations, a name and a reservation', async () => {
    const shown = async () => {
      const [lease] = (await api.get('/leases')).body.leases
      return lease
    }
    const before = await shown()
    const minutes = (later: string, earlier: string) => (Date.parse(`${later}Z`) - Date.parse(`${earlier}Z`)) / 60_000
    await reservation('lease', 'set', 'story', '--prolong-for', '1h')
    assert.equal(minutes((await shown()).end_date, before.end_date), 60)
    await reservation('lease', 'set', 'story', '--reduce-by', '30m')
    assert.equal(minutes((await shown()).end_date, before.end_date), 30)
    await reservation('lease', 'set', 'story', '--defer-by', '5m')
    assert.equal(minutes((await shown()).start_date, before.start_date), 5)
    await reservation('lease', 'set', 'story', '--advance-by', '5m')
    assert.equal((await shown()).start_date, before.start_date)
    await reservation('lease', 'set', 'story', '--end-date', before.end_date.slice(0, 16).replace('T', ' '))
    assert.equal((await shown()).end_date, before.end_date)
    await reservation('lease', 'set', 'story', '--name', 'renamed')
    assert.equal((await shown()).name, 'renamed')
    await reservation('lease', 'set', 'renamed', '--name', 'story')
    await reservation('lease', 'set', 'story', '--reservation', `id=${id},amount=5`)
    assert.equal((await shown()).reservations[0].amount, 5)
    await reservation('lease', 'set', 'story', '--reservation', `id=${id},amount=6`)
    await assert.rejects(reservation('lease', 'set', 'story', '--reservation', `id=${id},amount=60`), /compute-1/)
    assert.equal((await shown()).reservations[0].amount, 6)
  })

  void test('in Placement the slots appear when the lease starts', async () => {
    await api.advance(11)
    await api.until((await asJson('lease', 'show', 'story')).id, 'ACTIVE')
    let total = 0
    for (const name of ['blazar_compute-1', 'blazar_compute-2']) {
      const [{ uuid }] = await placement('list', '--name', name)
      const inventories = await placement('inventory', 'list', uuid)
      for (const inventory of inventories) {
        assert.equal(inventory.resource_class, classOf(id))
        total += inventory.total
      }
    }
    assert.equal(total, 6)
  })

  void test('whole hosts, and a refusal that says why', async () => {
    const dates = ['--start-date', await api.date(60), '--end-date', await api.date(90)]
    const hosts = ['--reservation', 'resource_type=physical:host,min=2,max=2']
    await assert.rejects(reservation('lease', 'create', ...hosts, ...dates, 'hosts'), /compute-1/)
    const later = ['--start-date', await api.date(600), '--end-date', await api.date(660)]
    const created = await asJson('lease', 'create', ...hosts, ...later, 'hosts')
    assert.equal(created.status, 'PENDING')
    await reservation('lease', 'delete', 'hosts')
  })

  void test('bare metal nodes, with the words that this client can parse', async () => {
    const metal = new Baremetal(server.origin)
    const node = await metal.node({ name: 'n1', resource_class: 'gpu' }, 'available')
    await metal.put(`/v1/nodes/${node}/traits`, { traits: ['CUSTOM_A100'] })
    const enrolled = await fetch(`${server.origin}/holdfast/v1/leasable-nodes/n1`, { method: 'PUT' })
    assert.ok(enrolled.ok)
    const of = (terms: string) => ['lease', 'create', '--reservation', terms, 'nodes']
    // For a type that it doesn't know, it takes no words at all. With `physical:host` somewhere it takes those of a host.
    await assert.rejects(
      reservation(...of('resource_type=physical:node,resource_class=gpu,min=1,max=1')),
      /resource_class/,
    )
    const wanted = 'min=1,max=1,resource_type=physical:node,hypervisor_properties=physical:host,resource_properties='
    await assert.rejects(reservation(...of(`${wanted}["=", "$rack", "1"]`)), /must be like/)
    const query = '["and", ["=", "$resource_class", "gpu"], ["=", "$trait", "CUSTOM_A100"]]'
    const lease = await asJson(...of(wanted + query))
    await api.until(lease.id, 'ACTIVE')
    const [{ nodes, resource_class, traits }] = (await api.show(lease.id)).reservations
    assert.deepEqual([nodes[0].node, resource_class, traits], [node, 'gpu', ['CUSTOM_A100']])
    await reservation('lease', 'delete', 'nodes')
    metal.close()
  })

  void test('instances by a flavor, with the words that this client can parse; shown and changed unchanged', async () => {
    const flavor = await api.flavorWith({ vcpus: 1, ram: 512, disk: 1 })
    const of = (terms: string) => ['lease', 'create', '--reservation', terms, 'by-flavor']
    // Newer clients know this type. This one takes the words of instances if `virtual:instance` is somewhere.
    await assert.rejects(reservation(...of(`resource_type=flavor:instance,flavor_id=${flavor},amount=2`)))
    const query = `["=", "$flavor_id", "${flavor}"]`
    const lease = await asJson(
      ...of(`vcpus=virtual:instance,resource_type=flavor:instance,amount=2,resource_properties=${query}`),
    )
    const [one] = (await api.show(lease.id)).reservations
    assert.deepEqual([one.resource_type, one.amount, one.vcpus], ['flavor:instance', 2, 1])
    assert.equal(JSON.parse(one.resource_properties).id, flavor)
    assert.match(JSON.stringify(await asJson('lease', 'show', 'by-flavor')), /flavor:instance/)
    assert.ok((await asJson('lease', 'list')).some((row: Shown) => row.id === lease.id))
    await reservation('lease', 'set', 'by-flavor', '--reservation', `id=${one.id},amount=3`)
    await reservation('lease', 'set', 'by-flavor', '--prolong-for', '1h')
    assert.equal((await api.show(lease.id)).reservations[0].amount, 3)
    await reservation('lease', 'delete', 'by-flavor')
  })

  void test('the blazar command speaks the same', async () => {
    const args = ['--os-auth-type', 'none', '--os-endpoint', `${server.origin}/reservation/v1`, 'lease-list']
    const { stdout } = await run('/usr/bin/blazar', args)
    assert.match(stdout, /story/)
  })

  void test('lease and hosts go, and nothing is left', async () => {
    await reservation('lease', 'delete', 'story')
    await assert.rejects(reservation('lease', 'show', 'story'), /story/)
    await reservation('host', 'delete', 'compute-1')
    await reservation('host', 'delete', 'compute-2')
    assert.deepEqual(await api.classes(), [])
    assert.deepEqual(await placement('list', '--name', 'blazar_compute-1'), [])
    await api.fsck()
  })
})

void describe('the story of a lease, told by an admin and a user', { skip }, () => {
  let folder = ''
  let server: Server
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-clients-'))
    const users = join(folder, 'users.yaml')
    const holdfast = async (...args: string[]) => {
      const { code, stdout, stderr } = await runHoldfast([...args, '--users', users]).exit
      assert.equal(code, 0, stderr)
      return stdout
    }
    await holdfast('user', 'add', 'root', '--project', 'admin', '--role', 'admin', '--password', 'secret')
    await holdfast('user', 'add', 'alice', '--project', 'lab', '--role', 'member', '--password', 'secret')
    server = await spawnServer(`sqlite:${join(folder, 'holdfast.db')}`, ['--auth', 'password', '--users', users])
    for (const user of ['root', 'alice']) {
      const yaml = await holdfast('user', 'clouds-yaml', user, '--url', server.origin, '--password', 'secret')
      writeFileSync(join(folder, `${user}.yaml`), yaml)
    }
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  const cloud =
    (user: string) =>
    async (words: string, ...more: string[]): Promise<string> => {
      const env = { ...process.env, OS_CLOUD: 'holdfast', OS_CLIENT_CONFIG_FILE: join(folder, `${user}.yaml`) }
      return (await runClient('openstack', [...words.split(' '), ...more], env)).trim()
    }
  const [root, alice] = [cloud('root'), cloud('alice')]

  void test('an admin gives a compute node to leases', async () => {
    const uuid = await root('resource provider create compute-1 -f value -c uuid')
    const sizes = ['VCPU=8', 'MEMORY_MB=16384', 'DISK_GB=200'].flatMap(each => ['--resource', each])
    await root(`resource provider inventory set ${uuid}`, ...sizes)
    await root('reservation host create compute-1 --extra gpu=yes')
    await assert.rejects(alice('reservation host list'), /Policy/)
  })

  let flavor = ''

  const started = async (lease: string) => {
    const deadline = performance.now() + 30_000
    while ((await alice(`reservation lease show ${lease} -f value -c status`)) !== 'ACTIVE') {
      assert.ok(performance.now() < deadline, 'the lease did not start in time')
    }
  }

  void test('a user makes a lease of a whole host, and runs servers there with the hint', async () => {
    await root('flavor create --vcpus 2 --ram 64 --disk 1 small')
    await alice('reservation lease create whole --reservation', 'resource_type=physical:host,min=1,max=1')
    await started('whole')
    const { id } = JSON.parse(await alice('reservation lease show whole -f value -c reservations'))
    const create = (name: string, ...hint: string[]) =>
      alice('server create --flavor small --image cirros', ...hint, name, '-f', 'value', '-c', 'id')
    const inside = await create('inside', '--hint', `reservation=${id}`)
    assert.equal(await alice(`server show ${inside} -f value -c status`), 'ACTIVE')
    assert.equal(await root(`server show ${inside} -f value -c OS-EXT-SRV-ATTR:host`), 'compute-1')
    assert.equal(await alice(`server show ${await create('outside')} -f value -c status`), 'ERROR')
    const unknown = create('nowhere', '--hint', `reservation=${crypto.randomUUID()}`)
    await assert.rejects(unknown, /could not be found/)
    await alice('reservation lease delete whole')
    await assert.rejects(alice(`server show ${inside}`), /No server|No Server/)
    await alice('server delete outside')
    await root('flavor delete small')
  })

  void test('a user makes a lease that starts now, and finds its flavor', async () => {
    const wanted = 'resource_type=virtual:instance,vcpus=2,memory_mb=1024,disk_gb=5,amount=2'
    await alice('reservation lease create story --reservation', wanted)
    await started('story')
    ;[flavor] = (await alice('flavor list --all -f value -c ID')).split('\n') as [string]
    const shown = JSON.parse(await alice(`flavor show ${flavor} -f json`))
    assert.equal(shown.name, `reservation:${flavor}`)
    assert.equal(shown.properties[`resources:${classOf(flavor)}`], '1')
  })

  void test('as many servers run as were reserved, and one more does not', async () => {
    for (const [name, status] of [
      ['vm1', 'ACTIVE'],
      ['vm2', 'ACTIVE'],
      ['vm3', 'ERROR'],
    ] as const) {
      await alice(`server create --flavor ${flavor} --image cirros ${name}`)
      assert.equal(await alice(`server show ${name} -f value -c status`), status)
    }
    const uuid = await root('resource provider list --name blazar_compute-1 -f value -c uuid')
    const usages = JSON.parse(await root(`resource provider usage show ${uuid} -f json`))
    assert.deepEqual(usages, [{ resource_class: classOf(flavor), usage: 2 }])
  })

  void test('the lease is prolonged and deleted, and takes all with it', async () => {
    await alice('reservation lease set story --prolong-for 1h')
    await alice('reservation lease delete story')
    assert.equal(await alice('reservation lease list -f value'), '')
    assert.doesNotMatch(await root('server list --all-projects -f value'), /vm[12]/)
    assert.doesNotMatch(await root('flavor list --all -f value'), /reservation:/)
    assert.doesNotMatch(await root('resource class list -f value'), /CUSTOM_RESERVATION/)
    await root('reservation host delete compute-1')
  })
})
