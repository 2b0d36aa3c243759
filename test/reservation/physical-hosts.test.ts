// physical:host: whole hosts for a window, between min and max of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import {
  as,
  classOf,
  dateAt,
  eachReservation,
  expectError,
  instances,
  type Shown,
  wholeHosts,
} from '../support/reservation.ts'

const alice = as('alice', 'p1')
const bob = as('bob', 'p2')
const hint = (reservation: unknown) => ({ 'os:scheduler_hints': { reservation } })

eachReservation('whole hosts', api => {
  const idOf = (lease: Shown): string => lease.reservations[0].id

  void test('a reservation of hosts shows what was asked for', async () => {
    const { only } = await api.pool(1)
    const wanted = { min: '1', max: 1, hypervisor_properties: '[">=", "$vcpus", "2"]', resource_properties: only }
    const lease = await api.lease([{ resource_type: 'physical:host', ...wanted, before_end: 'snapshot' }])
    const [reservation] = lease.reservations
    const { id, resource_id, created_at, updated_at } = reservation
    assert.deepEqual(reservation, {
      id,
      lease_id: lease.id,
      resource_id,
      resource_type: 'physical:host',
      status: 'pending',
      missing_resources: false,
      resources_changed: false,
      ...wanted,
      min: 1,
      before_end: 'snapshot',
      created_at,
      updated_at,
    })
    await api.end(lease.id)
  })

  void test('as many as max when there are, at least min, else none', async () => {
    const { only } = await api.pool(3)
    const hosts = (min: number, max: number) => [wholeHosts({ min, max, resource_properties: only })]
    const two = await api.lease(hosts(1, 2))
    assert.deepEqual(await api.spread(idOf(two)), [1, 1])
    const rest = await api.lease(hosts(1, 2))
    assert.deepEqual(await api.spread(idOf(rest)), [1])
    expectError(await api.tryLease(hosts(1, 1)), 409)
    await api.end(rest.id)
    expectError(await api.tryLease(hosts(2, 3)), 409)
    await api.end(two.id)
    expectError(await api.tryLease(hosts(4, 4)), 409)
  })

  void test('a host that is taken whole has no room for instances, nor the other way round', async () => {
    const { only } = await api.pool(1)
    const host = [wholeHosts({ resource_properties: only })]
    const instance = [instances({ resource_properties: only })]
    const whole = await api.lease(host)
    expectError(await api.tryLease(instance), 409)
    expectError(await api.tryLease(host), 409)
    await api.end(whole.id)
    const part = await api.lease(instance)
    expectError(await api.tryLease(host), 409)
    await api.end(part.id)
    expectError(await api.tryLease([...host, ...instance]), 409)
  })

  void test('back to back', async () => {
    const { only } = await api.pool(1)
    const host = [wholeHosts({ resource_properties: only })]
    const now = await api.now()
    const window = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
    const leases = [await api.lease(host, window(60, 120)), await api.lease(host, window(120, 180))]
    expectError(await api.tryLease(host, window(110, 121)), 409)
    for (const { id } of leases) await api.end(id)
  })

  void test('both queries on properties must hold', async () => {
    const { only } = await api.pool(2, { vcpus: 4 })
    const query = (text: string) => [wholeHosts({ hypervisor_properties: text, resource_properties: only })]
    expectError(await api.tryLease(query('[">", "$vcpus", "4"]')), 409)
    const lease = await api.lease(query('["==", "$vcpus", "4"]'))
    await api.end(lease.id)
  })

  const hostOf = (server: Shown): string => server['OS-EXT-SRV-ATTR:host']
  const shown = async (server: string) =>
    expectStatus(await api.compute.get(`/servers/${server}`, { version: null }), 200).body.server
  const gone = async (server: string) =>
    expectStatus(await api.compute.get(`/servers/${server}`, { version: null }), 404)
  const act = (server: string, action: object) =>
    api.compute.post(`/servers/${server}/action`, action, { version: null })
  const use = async (host: string) => (await api.placement.usages((await api.provider(host)).uuid))['VCPU']

  /** A lease of whole hosts that has begun, and ends in an hour. */
  async function begun(count: number, size: { vcpus?: number } = {}, who = alice) {
    const pool = await api.pool(count, size)
    const wanted = [wholeHosts({ min: count, max: count, resource_properties: pool.only })]
    const lease = await api.lease(wanted, { from: 10, to: 70 }, who)
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    return { ...pool, lease, id: idOf(lease) }
  }

  void test('servers with the hint run on the hosts of the reservation, of any flavor, as many as fit', async () => {
    const { names, lease, id } = await begun(2, { vcpus: 2 })
    await api.pool(1)
    const [small, large] = [await api.plainFlavor(), await api.plainFlavor(2)]
    const servers = [await api.server(large, alice, hint(id))]
    for (let i = 0; i < 2; i++) servers.push(await api.server(small, alice, hint([id])))
    const hosts = await Promise.all(servers.map(async ({ id }) => hostOf(await shown(id))))
    assert.deepEqual([...new Set(hosts)].toSorted(), names)
    const full = await api.server(small, alice, { 'OS-SCH-HNT:scheduler_hints': { reservation: id } })
    assert.equal(full.status, 'ERROR')
    assert.match(full.fault.message, /No valid host/)
    assert.equal((await api.server(small, alice)).status, 'ERROR', 'without the hint there is no way in')
    await api.fsck()
    await api.end(lease.id)
  })

  void test('the hint is for the project of an active lease of hosts; all else is 400 and makes no server', async () => {
    const { only } = await api.pool(2)
    const flavor = await api.plainFlavor()
    const pending = await api.lease([wholeHosts({ resource_properties: only })], {}, alice)
    const slots = await api.lease([instances({ resource_properties: only })], { from: 10, to: 70 }, alice)
    const { lease, id } = await begun(1)
    const count = async () =>
      (await api.compute.get('/servers?all_tenants=1', { version: null })).body.servers.length as number
    const before = await count()
    for (const [who, more, words] of [
      [alice, hint(crypto.randomUUID()), /could not be found/],
      [bob, hint(id), /could not be found/],
      [{}, hint(id), /could not be found/],
      [alice, hint(idOf(pending)), /is not active: its lease is PENDING/],
      [alice, hint(idOf(slots)), /is of instances/],
      [alice, hint([id, idOf(pending)]), /one reservation/],
      [alice, hint(7), /./],
      [alice, hint({}), /./],
      [alice, hint([]), /./],
      [alice, { 'os:scheduler_hints': 'reservation' }, /./],
    ] as const) {
      const { message } = expectStatus(await api.tryServer(flavor, who, more), 400).body.badRequest
      assert.match(message, words)
    }
    assert.equal(await count(), before)
    await api.end(lease.id)
    const { message } = expectStatus(await api.tryServer(flavor, alice, hint(id)), 400).body.badRequest
    assert.match(message, /could not be found/)
    const other = { 'os:scheduler_hints': { group: crypto.randomUUID() } }
    expectStatus(await api.tryServer(flavor, alice, other), 202)
    for (const { id } of [pending, slots]) await api.end(id)
  })

  void test('a reservation of hosts has a private flavor: a server as large as the smallest host', async () => {
    const { only, names } = await api.pool(1, { vcpus: 4 })
    const lease = await api.lease([wholeHosts({ resource_properties: only })], { from: 10, to: 70 }, alice)
    const id = idOf(lease)
    assert.equal(await api.flavor(id), null)
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    const { vcpus, ram, disk } = await api.flavor(id, alice)
    assert.deepEqual({ vcpus, ram, disk }, { vcpus: 4, ram: 16_384, disk: 200 })
    assert.equal(await api.flavor(id, bob), null)
    const server = await api.server(id, alice)
    assert.deepEqual([server.status, hostOf(await shown(server.id))], ['ACTIVE', names[0]])
    assert.equal((await api.server(id, alice)).status, 'ERROR')
    await api.fsck()
    await api.end(lease.id)
    assert.equal(await api.flavor(id), null)
  })

  void test('there are private flavors for a half, a quarter and an eighth of a host, as far as it has vCPUs', async () => {
    const { only, names } = await api.pool(1, { vcpus: 4, memory_mb: 1_001 })
    const lease = await api.lease([wholeHosts({ resource_properties: only })], { from: 1, to: 60 }, alice)
    const id = idOf(lease)
    await api.advance(2)
    await api.until(lease.id, 'ACTIVE')
    const sizes = async (part: string, who = alice) => {
      const flavor = await api.flavor(`${id}${part}`, who)
      return flavor && [flavor.name, flavor.vcpus, flavor.ram, flavor.disk]
    }
    assert.deepEqual(await sizes(''), [`reservation:${id}`, 4, 1_001, 200])
    assert.deepEqual(await sizes('-2'), [`reservation:${id}-2`, 2, 500, 100])
    assert.deepEqual(await sizes('-4'), [`reservation:${id}-4`, 1, 250, 50])
    assert.deepEqual([await sizes('-8'), await sizes('-2', bob)], [null, null])
    const half = await api.server(`${id}-2`, alice)
    assert.deepEqual([half.status, hostOf(await shown(half.id))], ['ACTIVE', names[0]])
    for (let i = 0; i < 2; i++) assert.equal((await api.server(`${id}-4`, alice)).status, 'ACTIVE')
    assert.equal((await api.server(`${id}-4`, alice)).status, 'ERROR')
    await api.fsck()
    await api.end(lease.id)
    assert.deepEqual([await sizes(''), await sizes('-2'), await sizes('-4')], [null, null, null])
  })

  void test('a flavor that someone makes of the reservation’s id gives way at the start; its name is nobody’s to take', async () => {
    const { only } = await api.pool(1, { vcpus: 4, memory_mb: 4096, disk_gb: 40 })
    const lease = await api.lease([wholeHosts({ resource_properties: only })], { from: 1, to: 60 }, alice)
    const make = (id: string, name: string) => {
      const flavor = { id, name, vcpus: 4, ram: 4096, disk: 40 }
      return api.compute.post('/flavors', { flavor }, { version: null })
    }
    expectStatus(await make('by-hand', `reservation:${idOf(lease)}`), 409)
    expectStatus(await make(idOf(lease), 'by hand'), 200)
    await api.advance(2)
    await api.until(lease.id, 'ACTIVE')
    const { name, 'os-flavor-access:is_public': isPublic } = await api.flavor(idOf(lease), alice)
    assert.deepEqual([name, isPublic], [`reservation:${idOf(lease)}`, false])
    await api.fsck()
    await api.end(lease.id)
  })

  void test('at the end its servers go, then flavor, inventory and class; nobody else is touched', async () => {
    const { names, lease, id } = await begun(1)
    await api.computeNode('beside-1')
    const flavor = await api.plainFlavor()
    const inside = await api.server(flavor, alice, hint(id))
    const outside = await api.server(flavor, alice)
    await api.advance(60)
    await api.until(lease.id, 'TERMINATED')
    await gone(inside.id)
    assert.equal((await shown(outside.id)).status, 'ACTIVE')
    assert.deepEqual(await api.inventories(names[0]!), {})
    assert.equal(await use(names[0]!), 0)
    expectStatus(await api.placement.get(`/resource_classes/${classOf(id)}`), 404)
    assert.equal(await api.flavor(id), null)
    assert.match(
      expectStatus(await api.tryServer(flavor, alice, hint(id)), 400).body.badRequest.message,
      /its lease is TERMINATED/,
    )
    await api.fsck()
    expectStatus(await api.compute.del(`/servers/${outside.id}`, { version: null }), 204)
    await api.end(lease.id)
  })

  void test('the next lease of a host starts when the one before has let go of it, and has it alone', async () => {
    const { only, names, lease, id } = await begun(1)
    const next = await api.lease([wholeHosts({ resource_properties: only })], { from: 59, to: 119 }, bob)
    const flavor = await api.plainFlavor()
    const { id: server } = await api.server(flavor, alice, hint(id))
    const consumer = await api.takeSlot(names[0]!, id)
    await api.advance(60)
    await api.until(lease.id, 'TERMINATING')
    await api.until(next.id, 'STARTING')
    await gone(server)
    for (const [who, reservation] of [
      [alice, id],
      [bob, idOf(next)],
    ] as const) {
      expectStatus(await api.tryServer(flavor, who, hint(reservation)), 400)
    }
    assert.equal((await api.server(id)).status, 'ERROR', 'not even an admin gets in by the flavor')
    assert.deepEqual(Object.keys(await api.inventories(names[0]!)), [classOf(id)])
    await api.fsck()
    expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    await api.advance(2)
    await api.until(lease.id, 'TERMINATED')
    await api.until(next.id, 'ACTIVE')
    assert.equal((await api.server(flavor, bob, hint(idOf(next)))).status, 'ACTIVE')
    for (const { id } of [lease, next]) await api.end(id)
    assert.equal(await use(names[0]!), 0)
  })

  void test('servers that are asked for while the lease ends are refused or go with it', async () => {
    const { names, lease, id } = await begun(2)
    const flavor = await api.plainFlavor()
    const asked = Array.from({ length: 12 }, () => api.tryServer(flavor, alice, hint(id)))
    await asked[0]
    await api.end(lease.id)
    for (const answer of await Promise.all(asked)) expectStatus(answer, 202, 400)
    await api.advance(5)
    for (const name of names) {
      assert.deepEqual(await api.inventories(name), {})
      assert.equal(await use(name), 0)
    }
    assert.ok(!(await api.classes()).includes(classOf(id)))
    await api.fsck()
  })

  void test('a server with the hint stays on the hosts of the reservation when it moves or is resized', async () => {
    const { names, lease, id } = await begun(2, { vcpus: 2 })
    await api.computeNode('beside-2')
    const [small, large] = [await api.plainFlavor(), await api.plainFlavor(2)]
    const server = await api.server(small, alice, hint(id))
    const first = hostOf(await shown(server.id))
    expectStatus(await act(server.id, { resize: { flavorRef: large } }), 202)
    const second = hostOf(await shown(server.id))
    assert.deepEqual([first, second].toSorted(), names)
    expectStatus(await act(server.id, { confirmResize: null }), 204)
    expectStatus(await act(server.id, { migrate: null }), 202)
    assert.equal(hostOf(await shown(server.id)), first)
    await api.advance(60)
    await api.until(lease.id, 'TERMINATED')
    await gone(server.id)
    for (const name of names) assert.equal(await use(name), 0)
    await api.fsck()
    await api.end(lease.id)
  })

  for (const wrong of [
    { min: 0 },
    { min: -1 },
    { min: 2, max: 1 },
    { min: 'x' },
    { max: null },
    { min: undefined },
    { min: 1.5 },
    { before_end: 'reboot' },
    { before_end: 7 },
    { hypervisor_properties: 'nonsense' },
    { resource_properties: [] },
  ]) {
    void test(`${JSON.stringify(wrong)} is 400`, async () => {
      expectError(await api.tryLease([wholeHosts(wrong)]), 400)
    })
  }
})
