// The schema as the last line: whatever our decisions did, a booking that doesn't fit can't be written.
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { after, before, describe, test } from 'node:test'
import { countLeases } from '../../src/leases/census.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { as, classOf, dateAt, instances, Reservation, type Shown, wholeHosts } from '../support/reservation.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

eachDatabase('bookings past our decisions', databases => {
  void describe('', () => {
    const api = new Reservation()
    let [store, stop]: [Store | null, () => Promise<void>] = [null, async () => {}]
    before(async () => {
      const database = await databases.create()
      const server = await startServer(database, { testClock: true })
      api.at(server.origin)
      stop = () => server.stop()
      store = openStore(database)
    })
    after(async () => {
      api.close()
      await store?.close()
      await stop()
    })

    void test('are refused where they would oversell, and taken where they fit', async () => {
      const pool = await api.pool(1, { vcpus: 4 })
      const lease = await api.lease([instances({ vcpus: 3 })], { from: 60, to: 120 })
      const spare = await api.lease([instances({ vcpus: 1 })], { from: 200, to: 201 })
      const start = Date.parse(`${lease.start_date}Z`)
      const minutes = (count: number) => start + count * 60_000
      const book = (vcpus: number, from: number, to: number, whole = 0) =>
        store!.script(async run => {
          await run(`delete from bookings where reservation_id = '${spare.reservations[0].id}'`)
          await run(
            `insert into bookings (reservation_id, provider_id, lease_id, slots, is_whole, vcpus, memory_mb, disk_gb, start_at, end_at, free_at)
             values ('${spare.reservations[0].id}', ${pool.ids[0]}, '${spare.id}', 1, ${whole}, ${vcpus}, 0, 0,
               ${minutes(from)}, ${minutes(to)}, ${minutes(to)})`,
          )
        })
      await assert.rejects(book(2, 0, 60), /does not fit/)
      await assert.rejects(book(2, -10, 1), /does not fit/)
      await assert.rejects(book(2, 59, 70), /does not fit/)
      await assert.rejects(book(2, -10, 100), /does not fit/)
      await assert.rejects(book(0, 10, 20, 1), /does not fit/)
      await assert.rejects(book(5, 100, 110), /does not fit/)
      await book(2, 60, 70)
      await book(4, -10, 0)
      await book(1, -10, 100)
      const change = (what: string) => store!.script(run => run(`update bookings set ${what}`))
      await assert.rejects(change('vcpus = 1'), /replaced, not changed/)
      await assert.rejects(change('free_at = free_at + 1'), /replaced, not changed/)
    })

    void test('nor may they take more of another class than there is', async () => {
      const host = await api.host('with-gpus', { vcpus: 50, extras: { CUSTOM_GPU: 3 } })
      const flavor = await api.flavorWith({ extra_specs: { 'resources:CUSTOM_GPU': '1' } })
      const by = { resource_type: 'flavor:instance', flavor_id: flavor, amount: 2 }
      const lease = await api.lease([by], { from: 60, to: 120 })
      const spare = await api.lease([{ ...by, amount: 1 }], { from: 200, to: 201 })
      const start = Date.parse(`${lease.start_date}Z`)
      const book = (extras: string, from: number, to: number) =>
        store!.script(async run => {
          await run(`delete from bookings where reservation_id = '${spare.reservations[0].id}'`)
          await run(
            `insert into bookings (reservation_id, provider_id, lease_id, slots, is_whole, vcpus, memory_mb, disk_gb, extras, start_at, end_at, free_at)
             values ('${spare.reservations[0].id}', ${host.id}, '${spare.id}', 1, 0, 1, 0, 0, '${extras}',
               ${start + from * 60_000}, ${start + to * 60_000}, ${start + to * 60_000})`,
          )
        })
      await assert.rejects(book('{"CUSTOM_GPU": 2}', 0, 60), /does not fit/)
      await assert.rejects(book('{"CUSTOM_GPU": 2}', -10, 1), /does not fit/)
      await assert.rejects(book('{"CUSTOM_GPU": 2}', 59, 70), /does not fit/)
      await assert.rejects(book('{"CUSTOM_GPU": 4}', 100, 110), /does not fit/)
      await assert.rejects(book('{"CUSTOM_NONE": 1}', 100, 110), /does not fit/)
      await book('{"CUSTOM_GPU": 2}', 60, 70)
      await book('{"CUSTOM_GPU": 1}', 0, 60)
      await assert.rejects(
        store!.script(run => run(`update bookings set extras = null where extras is not null`)),
        /replaced, not changed/,
      )
      const sentence = 'at no instant is more booked of another class of a host than it has'
      assert.ok(!(await broken()).includes(sentence))
      const ceiling = (text: string) =>
        store!.script(run => run(`update leasables set extras_ceiling = '${text}' where provider_id = ${host.id}`))
      await ceiling('{"CUSTOM_GPU": 2}')
      assert.ok((await broken()).includes(sentence))
      await ceiling('{"CUSTOM_GPU": 3}')
      for (const { id } of [lease, spare]) await api.end(id)
      await api.del(`/os-hosts/${host.id}`)
    })

    /** The invariants that fsck finds broken. */
    async function broken(): Promise<string[]> {
      const { invariants } = expectStatus(await api.operate('GET', '/fsck'), 200).body
      return invariants.filter(({ violations }: Shown) => violations > 0).map(({ invariant }: Shown) => invariant)
    }

    void test('a lease whose end fails is closed all the same, says why, and ends when it can', async () => {
      const { only, names } = await api.pool(1)
      const lease = await api.lease([instances({ amount: 2, resource_properties: only })], { from: 10, to: 20 })
      const { id } = lease.reservations[0]
      await api.advance(11)
      await api.until(lease.id, 'ACTIVE')
      const server = await api.server(id)
      const own = (owner: string) =>
        store!.script(run => run(`update consumers set managed_by = ${owner} where uuid = '${server.id}'`))
      await own('null')
      await api.advance(10)
      assert.match((await api.until(lease.id, 'TERMINATING')).status_reason, new RegExp(server.id))
      await assert.rejects(api.takeSlot(names[0]!, id), /409/)
      expectStatus(await api.tryServer(id, as('alice', lease.project_id)), 400)
      await own(`'compute'`)
      await api.advance(2)
      await api.until(lease.id, 'TERMINATED')
      expectStatus(await api.compute.get(`/servers/${server.id}`, { version: null }), 404)
    })

    void test('fsck finds a class that is open after the end, and a lease that started on top of the one before', async () => {
      const { only, names } = await api.pool(1)
      const now = await api.now()
      const at = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
      const host = [wholeHosts({ resource_properties: only })]
      const [first, next] = [await api.lease(host, at(10, 20)), await api.lease(host, at(20, 30))]
      await api.advance(11)
      await api.until(first.id, 'ACTIVE')
      await api.takeSlot(names[0]!, first.reservations[0].id)
      await api.advance(10)
      await api.until(first.id, 'TERMINATING')
      await api.until(next.id, 'STARTING')
      const gauges = await store!.read(() => countLeases(now + 21 * 60_000))
      assert.equal(gauges.find(({ name }) => name === 'holdfast_leases_overdue')?.value, 1)
      const before = await broken()
      const isNew = (name: string) => !before.includes(name)
      const run = (sql: string) => store!.script(run => run(sql))
      const className = `'${classOf(first.reservations[0].id)}'`
      const ofClass = `class_id = (select id from resource_classes where name = ${className})`
      const open = 'the class of a lease is closed from its end on, and open before'
      // The duty may close it before fsck looks.
      await waitFor('fsck finds the open class', async () => {
        await run(`update inventories set blocked = 0 where ${ofClass}`)
        return isDeepStrictEqual((await broken()).filter(isNew), [open])
      })
      await run(`update inventories set blocked = 1 where ${ofClass}`)
      assert.deepEqual((await broken()).filter(isNew), [])
      await run(`update lease_reservations set status = 'active' where lease_id = '${next.id}'`)
      const oversold = 'of a host no more is given out than it has, however late those before it are'
      assert.ok((await broken()).filter(isNew).includes(oversold))
    })
  })
})
