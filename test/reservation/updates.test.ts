// Changes of leases, rule by rule. What is refused changes nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dateAt, eachReservation, expectError, instances, type Shown, wholeHosts } from '../support/reservation.ts'

eachReservation('updates of leases', api => {
  const idOf = (lease: Shown, index = 0): string => lease.reservations[index].id
  const event = (lease: Shown, type: string) => lease.events.find((each: Shown) => each.event_type === type)
  const minute = (shown: string) => shown.slice(0, 16).replace('T', ' ')

  /** A change that is refused, after which lease and slots are what they were. */
  async function refused(lease: string, change: object, status: number, pattern: RegExp = /./) {
    const [before, slots] = [await api.show(lease), await api.slots()]
    expectError(await api.put(`/leases/${lease}`, change), status, pattern)
    assert.deepEqual(await api.show(lease), before)
    assert.deepEqual(await api.slots(), slots)
  }

  async function started(reservations: object[], to = 120): Promise<Shown> {
    const lease = await api.lease(reservations, { start_date: 'now', to })
    await api.advance(0)
    return api.until(lease.id, 'ACTIVE')
  }

  void test('an empty change changes nothing', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })])
    assert.deepEqual(await api.update(lease.id, {}), lease)
    assert.deepEqual(await api.update(lease.id, { reservations: [], unknown: 1 }), lease)
    await api.end(lease.id)
  })

  void test('a lease can be renamed in every state', async () => {
    const { only } = await api.pool(1)
    const { id } = await api.lease([instances({ resource_properties: only })], { from: 10, to: 20 })
    for (const [status, minutes] of [
      ['PENDING', 0],
      ['ACTIVE', 11],
      ['TERMINATED', 10],
    ] as const) {
      await api.advance(minutes)
      await api.until(id, status)
      const renamed = await api.update(id, { name: `as ${status}` })
      assert.deepEqual([renamed.name, renamed.status], [`as ${status}`, status])
      assert.notEqual(renamed.updated_at, null)
    }
    await api.end(id)
  })

  void test('a reservation that is to change is named by its id and keeps its type', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })])
    const id = idOf(lease)
    await refused(lease.id, { reservations: [{ amount: 2 }] }, 400, /id/)
    await refused(lease.id, { reservations: [{ id: 'nonsense', amount: 2 }] }, 400, /nonsense/)
    await refused(lease.id, { reservations: [{ id: lease.id, amount: 2 }] }, 400)
    const twice = [
      { id, amount: 2 },
      { id, amount: 3 },
    ]
    await refused(lease.id, { reservations: twice }, 400, /twice/)
    await refused(
      lease.id,
      { reservations: [{ id, resource_type: 'physical:host', min: 1, max: 1 }] },
      400,
      /virtual:instance/,
    )
    await refused(lease.id, { reservations: [{ id, resource_type: 'nonsense' }] }, 400, /virtual:instance/)
    const changed = await api.update(lease.id, { reservations: [{ id, resource_type: 'virtual:instance', amount: 2 }] })
    assert.equal(changed.reservations[0].amount, 2)
    await api.end(lease.id)
  })

  void test("another lease's reservation is none of this one's", async () => {
    const { only } = await api.pool(1)
    const wanted = [instances({ resource_properties: only })]
    const [a, b] = [await api.lease(wanted), await api.lease(wanted)]
    await refused(a.id, { reservations: [{ id: idOf(b), amount: 2 }] }, 400)
    assert.deepEqual(await api.show(b.id), b)
    await api.end(a.id)
    await api.end(b.id)
  })

  void test('a pending lease moves, forth and back, and its events with it', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })], { from: 60, to: 300 })
    const now = await api.now()
    const moved = await api.update(lease.id, { start_date: dateAt(now, 400), end_date: dateAt(now, 700) })
    assert.deepEqual([minute(moved.start_date), minute(moved.end_date)], [dateAt(now, 400), dateAt(now, 700)])
    assert.equal(event(moved, 'start_lease').time, moved.start_date)
    assert.equal(event(moved, 'end_lease').time, moved.end_date)
    assert.equal(minute(event(moved, 'before_end_lease').time), dateAt(now, 640))
    assert.equal(moved.status, 'PENDING')
    const back = await api.update(lease.id, { start_date: dateAt(now, 30), end_date: dateAt(now, 120) })
    assert.equal(minute(event(back, 'before_end_lease').time), dateAt(now, 60))
    await api.end(lease.id)
  })

  void test('the warning keeps its distance to the end, unless it is given', async () => {
    const { only } = await api.pool(1)
    const now = await api.now()
    const dates = { start_date: dateAt(now, 60), end_date: dateAt(now, 300), before_end_date: dateAt(now, 280) }
    const lease = await api.lease([instances({ resource_properties: only })], dates)
    const longer = await api.update(lease.id, { end_date: dateAt(now, 400) })
    assert.equal(minute(event(longer, 'before_end_lease').time), dateAt(now, 380))
    const given = await api.update(lease.id, { before_end_date: dateAt(now, 100) })
    assert.equal(minute(event(given, 'before_end_lease').time), dateAt(now, 100))
    for (const minutes of [10, 60, 400, 500]) {
      await refused(lease.id, { before_end_date: dateAt(now, minutes) }, 400, /before_end/)
    }
    await api.end(lease.id)
  })

  void test('a pending lease moves neither into the past nor past its end', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })], { from: 60, to: 120 })
    const now = await api.now()
    await refused(lease.id, { start_date: dateAt(now, -2) }, 400, /start|past/i)
    await refused(lease.id, { start_date: dateAt(now, 130) }, 400)
    await refused(lease.id, { end_date: dateAt(now, 30) }, 400, /end/i)
    await refused(lease.id, { end_date: dateAt(now, -2) }, 400, /end/i)
    await refused(lease.id, { start_date: 'nonsense' }, 400, /start_date/)
    await refused(lease.id, { end_date: 7 }, 400, /end_date/)
    await refused(lease.id, { before_end_date: 'nonsense' }, 400, /before_end/)
    await api.end(lease.id)
  })

  void test('a start that has been is fixed', async () => {
    const { only } = await api.pool(1)
    const lease = await started([instances({ resource_properties: only })])
    const now = await api.now()
    await refused(lease.id, { start_date: dateAt(now, 10) }, 400, /start/i)
    await refused(lease.id, { start_date: dateAt(now, -10) }, 400, /start/i)
    const same = await api.update(lease.id, { start_date: lease.start_date, name: 'same' })
    assert.equal(same.start_date, lease.start_date)
    await api.end(lease.id)
  })

  void test('a lease grows while there is room, and keeps its hosts', async () => {
    const { only } = await api.pool(2)
    const full = instances({ vcpus: 8, resource_properties: only })
    const now = await api.now()
    const window = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
    const lease = await api.lease([full], window(60, 120))
    const slots = await api.slots()
    const longer = await api.update(lease.id, { end_date: dateAt(now, 180) })
    assert.equal(minute(longer.end_date), dateAt(now, 180))
    assert.deepEqual(await api.slots(), slots)
    const next = await api.lease([instances({ vcpus: 8, amount: 2, resource_properties: only })], window(180, 240))
    await refused(lease.id, { end_date: dateAt(now, 181) }, 409)
    await refused(lease.id, { start_date: dateAt(now, 200), end_date: dateAt(now, 230) }, 409)
    const shorter = await api.update(lease.id, { end_date: dateAt(now, 90) })
    assert.equal(minute(shorter.end_date), dateAt(now, 90))
    await api.end(lease.id)
    await api.end(next.id)
  })

  void test('what a lease gives up is free for others at once', async () => {
    const { only } = await api.pool(1)
    const full = [instances({ vcpus: 8, resource_properties: only })]
    const now = await api.now()
    const window = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
    const lease = await api.lease(full, window(60, 120))
    expectError(await api.tryLease(full, window(90, 100)), 409)
    await api.update(lease.id, { end_date: dateAt(now, 90) })
    const other = await api.lease(full, window(90, 100))
    await refused(lease.id, { end_date: dateAt(now, 91) }, 409)
    await api.end(other.id)
    await api.end(lease.id)
  })

  void test('a pending reservation may move to another host when it must', async () => {
    const { only } = await api.pool(2)
    const now = await api.now()
    const window = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
    const full = [instances({ vcpus: 8, resource_properties: only })]
    const lease = await api.lease(full, window(60, 120))
    const [mine] = Object.entries(await api.slots()).find(([, on]) => on[idOf(lease)])!
    // The other lease gets the same host, right behind; then the first wants longer.
    const others = [await api.lease(full, window(120, 180)), await api.lease(full, window(180, 240))]
    const longer = await api.update(lease.id, { end_date: dateAt(now, 150) })
    assert.equal(minute(longer.end_date), dateAt(now, 150))
    assert.deepEqual(await api.spread(idOf(lease)), [1])
    assert.ok(mine)
    for (const { id } of [lease, ...others]) await api.end(id)
  })

  void test('all of a pending reservation can change, and its flavor follows under the same id', async () => {
    const { only } = await api.pool(2)
    const lease = await api.lease([instances({ amount: 2, resource_properties: only })])
    const id = idOf(lease)
    const size = { vcpus: 2, memory_mb: 2048, disk_gb: 7 }
    const query = `["and", ${only}, [">", "$vcpus", "4"]]`
    const change = { id, ...size, amount: '4', affinity: 'True', resource_properties: query }
    const [changed] = (await api.update(lease.id, { reservations: [change] })).reservations
    assert.deepEqual(
      [changed.vcpus, changed.memory_mb, changed.disk_gb, changed.amount, changed.affinity],
      [2, 2048, 7, 4, true],
    )
    assert.equal(changed.resource_properties, query)
    assert.deepEqual([changed.id, changed.flavor_id], [id, id])
    assert.deepEqual(await api.spread(id), [4])
    const flavor = await api.flavor(id)
    assert.deepEqual([flavor.vcpus, flavor.ram, flavor.disk], [2, 2048, 7])
    const apart = await api.update(lease.id, { reservations: [{ id, affinity: 'False', amount: 2 }] })
    assert.equal(apart.reservations[0].affinity, false)
    assert.deepEqual(await api.spread(id), [1, 1])
    const anywhere = await api.update(lease.id, { reservations: [{ id, affinity: 'None', amount: 8 }] })
    assert.equal(anywhere.reservations[0].affinity, null)
    assert.deepEqual(await api.spread(id), [4, 4])
    await api.end(lease.id)
  })

  void test('a pending amount goes down too, also by several slots of one host', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ amount: 8, resource_properties: only })])
    const id = idOf(lease)
    await api.update(lease.id, { reservations: [{ id, amount: 3 }] })
    assert.deepEqual(await api.spread(id), [3])
    await api.end(lease.id)
  })

  void test('a pending change that does not fit is refused and changes nothing', async () => {
    const { only } = await api.pool(2)
    const lease = await api.lease([instances({ vcpus: 4, amount: 2, resource_properties: only })])
    const id = idOf(lease)
    await refused(lease.id, { reservations: [{ id, amount: 5 }] }, 409)
    await refused(lease.id, { reservations: [{ id, vcpus: 9 }] }, 409)
    await refused(lease.id, { reservations: [{ id, affinity: false, amount: 3 }] }, 409)
    await refused(lease.id, { name: 'new', reservations: [{ id, resource_properties: '["=", "$pool", "x"]' }] }, 409)
    await refused(lease.id, { reservations: [{ id, resource_properties: 'nonsense' }] }, 400)
    for (const wrong of [{ amount: 0 }, { amount: -1 }, { amount: 'x' }, { vcpus: 0 }, { affinity: 'x' }]) {
      await refused(lease.id, { reservations: [{ id, ...wrong }] }, 400)
    }
    await api.end(lease.id)
  })

  void test('several reservations change together or not at all', async () => {
    const { only } = await api.pool(1)
    const wanted = instances({ vcpus: 2, resource_properties: only })
    const lease = await api.lease([wanted, wanted])
    const [a, b] = [idOf(lease, 0), idOf(lease, 1)]
    const both = (x: number, y: number) => ({
      reservations: [
        { id: a, amount: x },
        { id: b, amount: y },
      ],
    })
    await refused(lease.id, both(3, 2), 409)
    const changed = await api.update(lease.id, both(3, 1))
    assert.deepEqual(
      changed.reservations.map((each: Shown) => each.amount),
      [3, 1],
    )
    // One goes down as the other goes up.
    await api.update(lease.id, both(1, 3))
    assert.deepEqual(await api.spread(b), [3])
    await api.end(lease.id)
  })

  void test('while active only the dates change, and the amount upwards', async () => {
    const { only, names } = await api.pool(1)
    const lease = await started([instances({ vcpus: 2, amount: 2, resource_properties: only })])
    const id = idOf(lease)
    const total = async () => Object.values(await api.inventories(names[0]!)).map((each: Shown) => each.total)
    assert.deepEqual(await total(), [2])
    await refused(lease.id, { reservations: [{ id, amount: 1 }] }, 409)
    await refused(lease.id, { reservations: [{ id, vcpus: 1 }] }, 409)
    await refused(lease.id, { reservations: [{ id, memory_mb: 1 }] }, 409)
    await refused(lease.id, { reservations: [{ id, disk_gb: 2 }] }, 409)
    await refused(lease.id, { reservations: [{ id, affinity: true }] }, 409)
    await refused(lease.id, { reservations: [{ id, resource_properties: '' }] }, 409)
    await refused(lease.id, { reservations: [{ id, amount: 5 }] }, 409)
    const more = await api.update(lease.id, { reservations: [{ id, amount: 4, vcpus: 2 }] })
    assert.deepEqual([more.status, more.reservations[0].amount], ['ACTIVE', 4])
    assert.deepEqual(await total(), [4])
    await api.end(lease.id)
  })

  void test('an active lease can be made longer and shorter, but not end in the past', async () => {
    const { only } = await api.pool(1)
    const lease = await started([instances({ vcpus: 8, resource_properties: only })])
    const now = await api.now()
    await refused(lease.id, { end_date: dateAt(now, -2) }, 400, /end/i)
    const longer = await api.update(lease.id, { end_date: dateAt(now, 300) })
    assert.equal(longer.status, 'ACTIVE')
    const shorter = await api.update(lease.id, { end_date: dateAt(now, 30) })
    assert.equal(minute(shorter.end_date), dateAt(now, 30))
    await api.advance(31)
    await api.until(lease.id, 'TERMINATED')
    await api.end(lease.id)
  })

  void test('an active lease keeps its hosts, and so grows only as long as these are free', async () => {
    const { only } = await api.pool(2)
    const full = instances({ vcpus: 8, resource_properties: only })
    const lease = await started([full], 60)
    const now = await api.now()
    const window = { start_date: dateAt(now, 90), end_date: dateAt(now, 120) }
    const both = await api.lease([instances({ vcpus: 8, amount: 2, resource_properties: only })], window)
    await refused(lease.id, { end_date: dateAt(now, 91) }, 409)
    const longer = await api.update(lease.id, { end_date: dateAt(now, 90) })
    assert.equal(minute(longer.end_date), dateAt(now, 90))
    await api.end(both.id)
    await api.end(lease.id)
  })

  void test('a pending lease can be started at once', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })], { from: 60, to: 120 })
    await refused(lease.id, { end_date: 'now' }, 400)
    await api.update(lease.id, { start_date: 'now' })
    await api.until(lease.id, 'ACTIVE')
    await api.end(lease.id)
  })

  void test('end_date now ends an active lease early', async () => {
    const { only } = await api.pool(1)
    const lease = await started([instances({ vcpus: 8, resource_properties: only })])
    await api.advance(10)
    await api.update(lease.id, { end_date: 'now' })
    await api.advance(0)
    const ended = await api.until(lease.id, 'TERMINATED')
    assert.ok(ended.end_date < lease.end_date)
    assert.equal(await api.flavor(idOf(lease)), null)
    await api.end(lease.id)
  })

  void test('also in the minute in which it started', async () => {
    const { only } = await api.pool(1)
    const lease = await started([instances({ resource_properties: only })])
    await api.update(lease.id, { end_date: 'now' })
    await api.advance(0)
    await api.until(lease.id, 'TERMINATED')
    await api.end(lease.id)
  })

  void test('a lease that is over can only be renamed', async () => {
    const { only } = await api.pool(1)
    const lease = await started([instances({ resource_properties: only })], 5)
    await api.advance(6)
    await api.until(lease.id, 'TERMINATED')
    const now = await api.now()
    await refused(lease.id, { end_date: dateAt(now, 60) }, 400, /rename/i)
    await refused(lease.id, { start_date: dateAt(now, 10), end_date: dateAt(now, 60) }, 400)
    await refused(lease.id, { reservations: [{ id: idOf(lease), amount: 2 }] }, 400)
    await api.end(lease.id)
  })

  void test('a warning that has been is due again when the end moves away', async () => {
    const { only } = await api.pool(1)
    const lease = await started([instances({ resource_properties: only })], 90)
    await api.advance(31)
    assert.equal(event(await api.show(lease.id), 'before_end_lease').status, 'DONE')
    const now = await api.now()
    const longer = await api.update(lease.id, { end_date: dateAt(now, 180) })
    assert.equal(event(longer, 'before_end_lease').status, 'UNDONE')
    assert.equal(minute(event(longer, 'before_end_lease').time), dateAt(now, 120))
    await api.end(lease.id)
  })

  void test('whole hosts: a pending range goes both ways, an active one only gains', async () => {
    const { only } = await api.pool(3)
    const wanted = wholeHosts({ min: 2, max: 2, resource_properties: only })
    const lease = await api.lease([wanted], { from: 10, to: 100 })
    const id = idOf(lease)
    await refused(lease.id, { reservations: [{ id, min: 3, max: 2 }] }, 400, /min/)
    await refused(lease.id, { reservations: [{ id, min: 4, max: 4 }] }, 409)
    await api.update(lease.id, { reservations: [{ id, min: 1, max: 1 }] })
    assert.deepEqual(await api.spread(id), [1])
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    await api.update(lease.id, { reservations: [{ id, min: 2, max: 3 }] })
    assert.deepEqual(await api.spread(id), [1, 1, 1])
    await refused(lease.id, { reservations: [{ id, min: 1, max: 1 }] }, 409)
    await api.end(lease.id)
  })
})
