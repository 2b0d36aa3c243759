// physical:host: whole hosts for a window, between min and max of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dateAt, eachReservation, expectError, instances, type Shown, wholeHosts } from '../support/reservation.ts'

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
