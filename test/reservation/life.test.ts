// A lease from its start to its end: events, what Placement and Compute see of it, and that nothing is left.
// What users see of it over any compute is in test/leases-over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { as, classOf, dateAt, eachReservation, instances, type Shown, wholeHosts } from '../support/reservation.ts'

const alice = as('alice', 'p1')
const bob = as('bob', 'p2')

eachReservation('the life of a lease', api => {
  const idOf = (lease: Shown, index = 0): string => lease.reservations[index].id
  const statuses = (lease: Shown) =>
    Object.fromEntries(lease.events.map((each: Shown) => [each.event_type, each.status]))
  const totals = async (name: string) =>
    Object.fromEntries(Object.entries(await api.inventories(name)).map(([each, { total }]) => [each, total]))

  void test('PENDING, ACTIVE, warned, TERMINATED: each at its time', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })], { from: 60, to: 240 })
    await api.advance(58)
    const pending = await api.show(lease.id)
    assert.equal(pending.status, 'PENDING')
    assert.equal(pending.reservations[0].status, 'pending')

    await api.advance(3)
    const active = await api.until(lease.id, 'ACTIVE')
    assert.equal(active.reservations[0].status, 'active')
    assert.deepEqual(statuses(active), { start_lease: 'DONE', before_end_lease: 'UNDONE', end_lease: 'UNDONE' })

    await api.advance(121)
    const warned = await api.show(lease.id)
    assert.equal(warned.status, 'ACTIVE')
    assert.deepEqual(statuses(warned), { start_lease: 'DONE', before_end_lease: 'DONE', end_lease: 'UNDONE' })

    await api.advance(60)
    const ended = await api.until(lease.id, 'TERMINATED')
    assert.equal(ended.reservations[0].status, 'deleted')
    assert.deepEqual(statuses(ended), { start_lease: 'DONE', before_end_lease: 'DONE', end_lease: 'DONE' })
    assert.equal(ended.degraded, false)
    await api.end(lease.id)
  })

  void test('the inventory is there from the start to the end, as large as the slots on the host', async () => {
    const { only, names } = await api.pool(2)
    const lease = await api.lease([instances({ vcpus: 2, amount: 6, resource_properties: only })], { from: 10, to: 70 })
    const name = classOf(idOf(lease))
    for (const host of names) assert.deepEqual(await api.inventories(host), {})
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    const slots = await api.slots()
    for (const host of names) {
      assert.deepEqual(await api.inventories(host), {
        [name]: {
          total: slots[host]![idOf(lease)],
          reserved: 0,
          min_unit: 1,
          max_unit: 1,
          step_size: 1,
          allocation_ratio: 1,
        },
      })
    }
    await api.advance(60)
    await api.until(lease.id, 'TERMINATED')
    for (const host of names) assert.deepEqual(await api.inventories(host), {})
    expectStatus(await api.placement.get(`/resource_classes/${name}`), 404)
    await api.end(lease.id)
  })

  void test('affinity shows in where the inventory is', async () => {
    const { only, names } = await api.pool(3)
    const apart = instances({ amount: 3, affinity: false, resource_properties: only })
    const close = instances({ amount: 4, affinity: true, resource_properties: only })
    const lease = await api.lease([apart, close], { from: 10, to: 70 })
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    const on = await Promise.all(names.map(totals))
    assert.deepEqual(
      on.map(each => each[classOf(idOf(lease, 0))]),
      [1, 1, 1],
    )
    assert.deepEqual(
      on.map(each => each[classOf(idOf(lease, 1))]).filter(total => total !== undefined),
      [4],
    )
    await api.end(lease.id)
    for (const host of names) assert.deepEqual(await api.inventories(host), {})
  })

  void test('as many servers as were reserved run, on the hosts with the slots; one more does not', async () => {
    const { only, names } = await api.pool(2)
    const wanted = instances({ vcpus: 2, memory_mb: 1024, disk_gb: 5, amount: 6, resource_properties: only })
    const lease = await api.lease([wanted], { from: 10, to: 70 }, alice)
    const id = idOf(lease)
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    const servers = []
    for (let i = 0; i < 6; i++) servers.push(await api.server(id, alice))
    assert.deepEqual(
      servers.map(each => each.status),
      Array(6).fill('ACTIVE'),
    )
    const seventh = await api.server(id, alice)
    assert.equal(seventh.status, 'ERROR')
    assert.match(seventh.fault.message, /No valid host/)

    const slots = await api.slots()
    for (const host of names) {
      const { uuid } = await api.provider(`blazar_${host}`)
      assert.deepEqual(await api.placement.usages(uuid), { [classOf(id)]: slots[host]![id] })
      const root = await api.provider(host)
      assert.equal((await api.placement.usages(root.uuid))['VCPU'], 2 * slots[host]![id]!)
    }
    expectStatus(await api.compute.del(`/servers/${servers[0].id}`, { version: null, ...alice }), 204)
    assert.equal((await api.server(id, alice)).status, 'ACTIVE')

    await api.advance(60)
    await api.until(lease.id, 'TERMINATED')
    const left = await api.compute.get('/servers/detail?all_tenants=1', { version: null })
    assert.ok(!left.body.servers.some((each: Shown) => each.flavor.id === id))
    for (const host of names) {
      const root = await api.provider(host)
      assert.equal((await api.placement.usages(root.uuid))['VCPU'], 0)
      assert.deepEqual(await api.inventories(host), {})
    }
    assert.deepEqual(await api.spread(id), [])
    await api.fsck()
    await api.end(lease.id)
  })

  void test('the end of one lease and the start of the next are in that order, at full load', async () => {
    const { only, names } = await api.pool(1)
    const now = await api.now()
    const full = [instances({ vcpus: 8, resource_properties: only })]
    const at = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
    const first = await api.lease(full, at(10, 20), alice)
    const second = await api.lease(full, at(20, 30), bob)
    await api.advance(11)
    await api.until(first.id, 'ACTIVE')
    assert.equal((await api.server(idOf(first), alice)).status, 'ACTIVE')
    await api.advance(10)
    await api.until(first.id, 'TERMINATED')
    await api.until(second.id, 'ACTIVE')
    assert.deepEqual(await totals(names[0]!), { [classOf(idOf(second))]: 1 })
    assert.equal((await api.server(idOf(second), bob)).status, 'ACTIVE')
    await api.advance(10)
    await api.until(second.id, 'TERMINATED')
    await api.fsck()
    await api.end(first.id)
    await api.end(second.id)
  })

  void test('a lease that was slept through is started and ended late, and leaves nothing', async () => {
    const { only, names } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })], { from: 10, to: 20 })
    await api.advance(24 * 60)
    const ended = await api.until(lease.id, 'TERMINATED')
    assert.deepEqual(statuses(ended), { start_lease: 'DONE', before_end_lease: 'DONE', end_lease: 'DONE' })
    assert.deepEqual(await api.inventories(names[0]!), {})
    assert.equal(await api.flavor(idOf(lease)), null)
    await api.end(lease.id)
  })

  void test('a slot that is still in use at the end is not given away: the end waits and is tried again', async () => {
    const { only, names } = await api.pool(1)
    const [host] = names as [string]
    const lease = await api.lease([instances({ vcpus: 8, resource_properties: only })], { from: 10, to: 20 })
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    const consumer = await api.takeSlot(host, idOf(lease))
    await api.advance(10)
    await api.until(lease.id, 'TERMINATING')
    await api.fsck()
    assert.deepEqual(await totals(host), { [classOf(idOf(lease))]: 1 })
    expectStatus(await api.tryLease([instances({ resource_properties: only })], { start_date: 'now', to: 5 }), 409)
    expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    await api.advance(2)
    await api.until(lease.id, 'TERMINATED')
    assert.deepEqual(await totals(host), {})
    await api.end(lease.id)
  })

  void test('a lease that is deleted while a slot is in use is gone for clients, and the rest follows', async () => {
    const { only, names } = await api.pool(1)
    const [host] = names as [string]
    const lease = await api.lease([instances({ resource_properties: only })], { from: 10, to: 20 })
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    const consumer = await api.takeSlot(host, idOf(lease))
    await api.end(lease.id)
    expectStatus(await api.get(`/leases/${lease.id}`), 404)
    expectStatus(await api.put(`/leases/${lease.id}`, { name: 'x' }), 404)
    expectStatus(await api.del(`/leases/${lease.id}`), 404)
    await api.fsck()
    expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    await api.advance(2)
    assert.deepEqual(await totals(host), {})
    expectStatus(await api.placement.get(`/resource_classes/${classOf(idOf(lease))}`), 404)
    assert.deepEqual(await api.spread(idOf(lease)), [])
  })

  void test('a lease does not start while the one before it still has what it needs, and says so', async () => {
    const { only, names } = await api.pool(1)
    const [host] = names as [string]
    const now = await api.now()
    const at = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
    const first = await api.lease([instances({ vcpus: 6, resource_properties: only })], at(10, 20))
    const second = await api.lease([instances({ vcpus: 6, resource_properties: only })], at(20, 30), bob)
    const small = await api.lease([instances({ vcpus: 1, resource_properties: only })], at(20, 30), bob)
    await api.advance(11)
    await api.until(first.id, 'ACTIVE')
    const consumer = await api.takeSlot(host, idOf(first))
    await api.advance(10)
    const ending = await api.until(first.id, 'TERMINATING')
    assert.match(ending.status_reason, new RegExp(`${classOf(idOf(first))} is still in use by ${consumer}`))
    const waiting = await api.until(second.id, 'STARTING')
    assert.match(waiting.status_reason, /held by the lease before/)
    assert.ok(!waiting.status_reason.includes(host), 'a member isn’t told which host that is')
    assert.equal(statuses(waiting)['start_lease'], 'IN_PROGRESS')
    assert.deepEqual(
      Object.keys(await totals(host)).toSorted(),
      [classOf(idOf(first)), classOf(idOf(small))].toSorted(),
    )
    await api.until(small.id, 'ACTIVE')
    assert.equal((await api.tryServer(idOf(second), bob)).status, 400)
    await api.fsck()
    expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    await api.advance(2)
    assert.equal((await api.until(first.id, 'TERMINATED')).status_reason, undefined)
    const started = await api.until(second.id, 'ACTIVE')
    assert.equal(started.status_reason, undefined)
    assert.equal((await api.server(idOf(second), bob)).status, 'ACTIVE')
    for (const { id } of [first, second, small]) await api.end(id)
  })

  void test('a lease that waits for the one before it until its own end is over without having begun', async () => {
    const { only, names } = await api.pool(1)
    const now = await api.now()
    const at = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
    const full = [instances({ vcpus: 8, resource_properties: only })]
    const first = await api.lease(full, at(10, 20))
    const second = await api.lease(full, at(20, 30))
    await api.advance(11)
    await api.until(first.id, 'ACTIVE')
    const consumer = await api.takeSlot(names[0]!, idOf(first))
    await api.advance(10)
    await api.until(second.id, 'STARTING')
    await api.advance(10)
    await api.until(second.id, 'TERMINATED')
    await api.fsck()
    expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    await api.advance(2)
    await api.until(first.id, 'TERMINATED')
    for (const { id } of [first, second]) await api.end(id)
  })

  void test('from its end on nobody gets any more of what a lease gave, whoever still has some of it', async () => {
    const { only, names } = await api.pool(1)
    const [host] = names as [string]
    const lease = await api.lease([instances({ amount: 3, resource_properties: only })], { from: 10, to: 20 }, alice)
    const id = idOf(lease)
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    const consumer = await api.takeSlot(host, id)
    assert.equal((await api.server(id, alice)).status, 'ACTIVE')
    await api.advance(10)
    await api.until(lease.id, 'TERMINATING')
    const { uuid } = await api.provider(`blazar_${host}`)
    assert.deepEqual(await api.placement.usages(uuid), { [classOf(id)]: 1 })
    await assert.rejects(api.takeSlot(host, id), /409/)
    assert.equal((await api.server(id)).status, 'ERROR', 'not even for an admin')
    await api.fsck()
    expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    await api.advance(2)
    await api.until(lease.id, 'TERMINATED')
    await api.end(lease.id)
  })

  const act = (server: string, action: object, who = alice) =>
    api.compute.post(`/servers/${server}/action`, action, { version: null, ...who })
  const showServer = async (server: string) =>
    expectStatus(await api.compute.get(`/servers/${server}`, { version: null }), 200).body.server

  void test('a resize that nobody confirmed is confirmed by itself after a day', async () => {
    for (const name of ['outside-1', 'outside-2']) await api.computeNode(name)
    const [small, large] = [await api.plainFlavor(), await api.plainFlavor(2)]
    const { id } = await api.server(small, alice)
    expectStatus(await act(id, { resize: { flavorRef: large } }), 202)
    await api.advance(23 * 60)
    assert.equal((await showServer(id)).status, 'VERIFY_RESIZE')
    await api.advance(61)
    const server = await showServer(id)
    assert.deepEqual([server.status, server.flavor.id], ['ACTIVE', large])
    const [confirmed] = (await api.audit(id)).slice(-1)
    assert.deepEqual(
      [confirmed.user, confirmed.action, confirmed.project, confirmed.outcome],
      ['conductor', 'conductor:confirm_resize', 'p1', 'done'],
    )
    await api.fsck()
    expectStatus(await api.compute.del(`/servers/${id}`, { version: null }), 204)
  })

  void test('each event of a lease is in the audit, with the servers that went at its end', async () => {
    const { only, names } = await api.pool(1)
    const wanted = [instances({ amount: 2, resource_properties: only })]
    const lease = await api.lease(wanted, { from: 10, to: 200 }, alice)
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    const { id: server } = await api.server(idOf(lease), alice)
    const consumer = await api.takeSlot(names[0]!, idOf(lease))
    await api.advance(130)
    await api.advance(60)
    await api.until(lease.id, 'TERMINATING')
    await api.advance(5)
    expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    await api.advance(5)
    await api.until(lease.id, 'TERMINATED')
    const entries = (await api.audit(lease.id)).filter(({ user }) => user === 'conductor')
    assert.deepEqual(
      entries.map(({ action, project, outcome }) => [action, project, outcome]),
      [
        ['conductor:start_lease', 'p1', 'done'],
        ['conductor:before_end_lease', 'p1', 'done'],
        ['conductor:end_lease', 'p1', 'accepted'],
        ['conductor:end_lease', 'p1', 'done'],
      ],
    )
    const isAbout = (kind: string, id: string) => (object: Shown) => object.kind === kind && object.id === id
    assert.ok(entries[2].objects.some(isAbout('server', server)))
    assert.equal((await api.audit(server)).at(-1)?.action, 'conductor:end_lease')
    await api.end(lease.id)
  })

  void test('through Placement nobody takes more than the slots there are', async () => {
    const { only, names } = await api.pool(1)
    const [host] = names as [string]
    const lease = await api.lease([instances({ resource_properties: only })], { from: 10, to: 20 })
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    const consumer = await api.takeSlot(host, idOf(lease))
    await assert.rejects(api.takeSlot(host, idOf(lease)), /409/)
    expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    await api.end(lease.id)
  })

  void test('a lease of several reservations starts and ends as one', async () => {
    const { only, names } = await api.pool(2)
    const lease = await api.lease(
      [
        instances({ amount: 2, resource_properties: only }),
        wholeHosts({ resource_properties: only }),
        instances({ vcpus: 2, resource_properties: only }),
      ],
      { from: 10, to: 20 },
    )
    await api.advance(11)
    const active = await api.until(lease.id, 'ACTIVE')
    assert.deepEqual(
      active.reservations.map((each: Shown) => each.status),
      ['active', 'active', 'active'],
    )
    const on = Object.assign({}, ...(await Promise.all(names.map(totals))))
    assert.deepEqual([on[classOf(idOf(lease, 0))], on[classOf(idOf(lease, 2))]], [2, 1])
    await api.advance(10)
    const ended = await api.until(lease.id, 'TERMINATED')
    assert.deepEqual(
      ended.reservations.map((each: Shown) => each.status),
      ['deleted', 'deleted', 'deleted'],
    )
    await api.end(lease.id)
  })

  void test('allocations without a filter are those of leases that are not over', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ amount: 2, resource_properties: only })], { from: 10, to: 20 })
    assert.deepEqual(await api.spread(idOf(lease)), [2])
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    assert.deepEqual(await api.spread(idOf(lease)), [2])
    await api.advance(10)
    await api.until(lease.id, 'TERMINATED')
    assert.deepEqual(await api.spread(idOf(lease)), [])
    await api.end(lease.id)
  })

  void test('many leases begin and end at the same instant', async () => {
    const { only, names } = await api.pool(2)
    const now = await api.now()
    const window = { start_date: dateAt(now, 10), end_date: dateAt(now, 20) }
    const wanted = [instances({ resource_properties: only })]
    const leases = await Promise.all(Array.from({ length: 16 }, () => api.lease(wanted, window)))
    await api.advance(11)
    for (const { id } of leases) await api.until(id, 'ACTIVE')
    const on = await Promise.all(names.map(async name => Object.keys(await totals(name)).length))
    assert.equal(on[0]! + on[1]!, 16)
    await api.advance(10)
    for (const { id } of leases) await api.until(id, 'TERMINATED')
    assert.deepEqual(await api.classes(), [])
    for (const { id } of leases) await api.end(id)
  })

  void test('when all is over nothing is left but the hosts', async () => {
    assert.deepEqual(await api.classes(), [])
    const { flavors } = (await api.compute.get('/flavors?is_public=None', { version: null })).body
    assert.ok(!flavors.some((each: Shown) => each.name.startsWith('reservation:')))
    assert.deepEqual((await api.get('/leases')).body.leases, [])
    assert.deepEqual(
      Object.values(await api.slots()).flatMap(on => Object.keys(on)),
      [],
    )
  })
})
