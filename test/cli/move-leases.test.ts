// holdfast move leases: hosts and leases from a Blazar into Holdfast, and back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { eachStore } from '../support/stores.ts'
import { Blazar } from './blazar.ts'
import { gateTo, movesTo, OPEN } from './moving.ts'

const INSTANCES = {
  resource_type: 'virtual:instance',
  vcpus: 2,
  memory_mb: 1024,
  disk_gb: 5,
  amount: 2,
  affinity: null,
  resource_properties: '',
  aggregate_id: 2,
  server_group_id: null,
}
let made = 0

eachStore(
  'holdfast move leases',
  api => {
    const at = () => `${api.origin}/reservation/v1`
    const line = (blazar: Blazar, more = '') => `leases --from ${blazar.url} --to ${at()}${more}`
    const library = () => connect({ url: api.origin, env: {} })

    /** A Blazar with two hosts that our Placement has too. */
    async function start(t: { after: (work: () => Promise<void>) => void }) {
      const blazar = await new Blazar().start()
      t.after(() => blazar.stop())
      const names = [`hv-${++made}`, `hv-${++made}`]
      for (const name of names) {
        await api.provider({ VCPU: 8, MEMORY_MB: 16_384, DISK_GB: 200 }, { name })
        blazar.host(name, { rack: name })
      }
      return { blazar, only: `["=", "$rack", "${names[0]}"]`, names }
    }

    test('hosts and pending leases come over with ids, names, dates, owners and capabilities', async t => {
      const { blazar, only, names } = await start(t)
      const lease = blazar.lease('small', [60, 180], { ...INSTANCES, resource_properties: only })
      const hosts = { resource_type: 'physical:host', min: 1, max: 1, hypervisor_properties: '', before_end: '' }
      blazar.lease('whole', [60, 120], { ...hosts, resource_properties: `["=", "$rack", "${names[1]}"]` })
      blazar.lease('past', [-120, -60], INSTANCES, { status: 'TERMINATED' })

      const rehearsal = await movesTo(1, line(blazar, ' --compare'))
      assert.match(rehearsal.stdout, /lease +small +absent/)
      assert.match(rehearsal.stderr, /4 to move/)
      const { stdout } = await movesTo(0, line(blazar))
      assert.match(stdout, /4 created, 0 changed, 0 the same, 1 over/)

      const server = await library()
      const moved = await server.leases.show(lease.id)
      assert.deepEqual([moved.name, moved.project_id, moved.user_id], ['small', 'theirs', 'ann'])
      assert.deepEqual([moved.start_date, moved.end_date], [lease.start_date, lease.end_date])
      assert.equal(moved.reservations[0]!['id'], lease.reservations[0].id)
      const before = ({ events }: { events: Record<string, unknown>[] }) =>
        events.find(one => one['event_type'] === 'before_end_lease')!['time']
      assert.equal(before(moved), before(lease))
      assert.equal((await server.hosts.show(names[0]!))['rack'], names[0])

      assert.match((await movesTo(0, line(blazar))).stdout, /0 created, 0 changed, 4 the same, 1 over/)
      await movesTo(0, line(blazar, ' --compare'))
      assert.deepEqual(blazar.asked, [])
      assert.equal((await server.fsck()).violations, 0)
    })

    test('a lease that runs stays, with its hosts, and it is said until when', async t => {
      const { blazar, names } = await start(t)
      const running = blazar.lease('now', [-60, 600], INSTANCES, { status: 'ACTIVE' })
      blazar.booked.set(blazar.hosts[0].id, [running.id])
      const only = `["=", "$rack", "${names[1]}"]`
      const pending = blazar.lease('later', [60, 120], { ...INSTANCES, resource_properties: only })
      const { stdout, stderr } = await movesTo(4, line(blazar))
      assert.match(stdout, /host +hv-\d+ +refused +lease now has it until \d{4}-/)
      assert.match(stdout, /lease +now +refused +it is ACTIVE; the service that started it must end it, at \d{4}-/)
      assert.match(stdout, /leases run at the source until \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
      assert.match(stderr, /2 refused/)
      const server = await library()
      assert.equal((await server.leases.show(pending.id)).status, 'PENDING')
      await assert.rejects(server.hosts.show(names[0]!), /no host/)
    })

    test('a lease that is taken is deleted at the source when the target has it, and not before', async t => {
      const { blazar, only } = await start(t)
      const fits = blazar.lease('fits', [60, 120], { ...INSTANCES, resource_properties: only })
      const large = { ...INSTANCES, amount: 9, resource_properties: only }
      const tooMuch = blazar.lease('too much', [60, 120], large)
      const { stdout } = await movesTo(4, line(blazar, ' --take'))
      assert.match(stdout, /lease +too much +refused +\S/)
      assert.deepEqual(blazar.asked, [`DELETE /leases/${fits.id}`])
      assert.deepEqual(
        blazar.leases.map(({ id }) => id),
        [tooMuch.id],
      )
      const { reservations } = await (await library()).leases.show(fits.id)
      assert.notEqual(reservations[0]!['id'], fits.reservations[0].id, 'Blazar deletes the flavor with its id')
    })

    test('nothing is taken from the service that has it: by another name, or when the reservation has its id', async t => {
      const { blazar, only } = await start(t)
      const lease = blazar.lease('once', [60, 120], { ...INSTANCES, resource_properties: only })
      await movesTo(0, line(blazar))
      const gate = await gateTo(api.origin, {})
      t.after(() => gate.stop())
      const same = /lease +once +refused +the target has its reservations with the same ids/
      const { stdout } = await movesTo(4, `leases --from ${gate.origin}/reservation/v1 --to ${at()} --take`)
      assert.match(stdout, same)
      assert.equal((await (await library()).leases.show(lease.id)).status, 'PENDING')
      assert.match((await movesTo(4, line(blazar, ' --take'))).stdout, same)
      assert.deepEqual(blazar.asked, [])
    })

    test('a source whose dates are none is refused row by row', async t => {
      const { blazar } = await start(t)
      const broken = blazar.lease('broken', [60, 120], INSTANCES)
      broken.start_date = 'soon'
      broken.end_date = 'later'
      assert.match((await movesTo(4, line(blazar))).stdout, /lease +broken +refused +\S/)
    })

    test('what both have is compared, and capabilities that changed follow', async t => {
      const { blazar, only } = await start(t)
      const lease = blazar.lease('same', [60, 120], { ...INSTANCES, resource_properties: only })
      await movesTo(0, line(blazar))
      lease.name = 'renamed'
      blazar.hosts[1].gpu = 'yes'
      const { stdout } = await movesTo(1, line(blazar, ' --compare'))
      assert.match(stdout, /host +hv-\d+ +different +in gpu/)
      assert.match(stdout, /lease +renamed +different +the target has it with other dates/)
      assert.match((await movesTo(4, line(blazar))).stdout, /host +hv-\d+ +changed/)
    })

    test('back to a Blazar: hosts, and the leases of the project that asks; commands for the others', async t => {
      const { blazar, only, names } = await start(t)
      blazar.lease("ann's", [60, 120], { ...INSTANCES, resource_properties: only })
      await movesTo(0, line(blazar))
      const other = await new Blazar().start()
      t.after(() => other.stop())
      const back = await movesTo(4, `leases --from ${at()} --to ${other.url}`)
      assert.match(back.stdout, /lease +ann's +refused +only its project can make it there: log in to project theirs/)
      assert.ok(names.every(name => other.hosts.some(host => host.hypervisor_hostname === name && host.rack === name)))
      const { stdout } = await movesTo(0, `leases --from ${at()} --commands`)
      assert.match(stdout, new RegExp(`openstack reservation host create --extra rack=${names[0]} ${names[0]}`))
      const starts = String.raw`--start-date '\d{4}-\d\d-\d\d \d\d:\d\d'`
      const terms = `resource_type=virtual:instance,vcpus=2,memory_mb=1024,disk_gb=5,amount=2,affinity=None,resource_properties=`
      assert.match(
        stdout,
        new RegExp(`--os-project-id theirs reservation lease create --reservation '?${terms}.*${starts}`),
      )
    })

    test('what a service refuses is said: no such hypervisor, a type that Holdfast lacks', async t => {
      const { blazar, only } = await start(t)
      blazar.host('nowhere')
      blazar.lease('ips', [60, 120], { resource_type: 'virtual:floatingip', network_id: 'n', amount: 1 })
      blazar.lease('good', [60, 120], { ...INSTANCES, resource_properties: only })
      const { stdout, stderr } = await movesTo(4, line(blazar))
      assert.match(stdout, /host +nowhere +refused +.*nowhere/)
      assert.match(stdout, /lease +ips +refused +resource_type must be/)
      assert.match(stdout, /lease +good +created/)
      assert.match(stderr, /2 refused/)
    })
  },
  OPEN,
)
