// A host that goes down: its reservations move to where they fit, and leases say what became of them.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { classOf, eachReservation, expectError, instances, type Pool, type Shown } from '../support/reservation.ts'

eachReservation('healing', api => {
  const idOf = (lease: Shown): string => lease.reservations[0].id
  const turn = async (name: string, state: 'up' | 'down') => {
    const answer = await api.operate('POST', '/hypervisor-state', { name, state })
    expectStatus(answer, 200, 202, 204)
    // Nothing is due, but when this returns all duties have looked.
    await api.advance(0)
  }
  const hostOf = async (reservation: string) =>
    Object.entries(await api.slots()).find(([, on]) => (on[reservation] ?? 0) > 0)?.[0]
  const other = ({ names }: Pool, name: string) => names.find(each => each !== name)!

  async function eventually(check: () => Promise<void>) {
    const deadline = performance.now() + 10_000
    for (;;) {
      try {
        return await check()
      } catch (error) {
        if (performance.now() > deadline) throw error
        await sleep(50)
      }
    }
  }

  void test('a host that is down takes no reservations until it is up again', async () => {
    const pool = await api.pool(1)
    await turn(pool.names[0]!, 'down')
    const wanted = [instances({ resource_properties: pool.only })]
    await eventually(async () => {
      assert.equal((await api.get(`/os-hosts/${pool.ids[0]}`)).body.host.reservable, false)
    })
    expectError(await api.tryLease(wanted), 409)
    await turn(pool.names[0]!, 'up')
    await eventually(async () => {
      assert.equal((await api.get(`/os-hosts/${pool.ids[0]}`)).body.host.reservable, true)
    })
    await api.end((await api.lease(wanted)).id)
  })

  void test('nor does one whose service is disabled', async () => {
    const pool = await api.pool(1)
    const service = { host: pool.names[0], binary: 'nova-compute' }
    const wanted = [instances({ resource_properties: pool.only })]
    expectStatus(await api.compute.put('/os-services/disable', service, { version: null }), 200)
    await eventually(async () => void expectError(await api.tryLease(wanted), 409))
    expectStatus(await api.compute.put('/os-services/enable', service, { version: null }), 200)
    await eventually(async () => api.end((await api.lease(wanted)).id))
  })

  void test('a reservation that starts soon moves, silently', async () => {
    const pool = await api.pool(2)
    const lease = await api.lease([instances({ amount: 2, resource_properties: pool.only })], { from: 30, to: 90 })
    const down = (await hostOf(idOf(lease)))!
    await turn(down, 'down')
    await eventually(async () => assert.equal(await hostOf(idOf(lease)), other(pool, down)))
    assert.deepEqual(await api.spread(idOf(lease)), [2])
    const healed = await api.show(lease.id)
    const [reservation] = healed.reservations
    assert.deepEqual(
      [healed.degraded, reservation.missing_resources, reservation.resources_changed],
      [false, false, false],
    )
    await turn(down, 'up')
    await api.end(lease.id)
  })

  void test('one that starts later than the healing interval stays where it is', async () => {
    const pool = await api.pool(2)
    const lease = await api.lease([instances({ resource_properties: pool.only })], { from: 600, to: 660 })
    const down = (await hostOf(idOf(lease)))!
    await turn(down, 'down')
    assert.equal(await hostOf(idOf(lease)), down)
    await turn(down, 'up')
    await api.end(lease.id)
  })

  void test('of an active lease inventory and slots move, and it says so', async () => {
    const pool = await api.pool(2)
    const lease = await api.lease([instances({ amount: 2, resource_properties: pool.only })], { from: 5, to: 600 })
    await api.advance(6)
    await api.until(lease.id, 'ACTIVE')
    const down = (await hostOf(idOf(lease)))!
    const up = other(pool, down)
    await turn(down, 'down')
    await eventually(async () => assert.equal(await hostOf(idOf(lease)), up))
    const healed = await api.show(lease.id)
    assert.deepEqual([healed.status, healed.degraded, healed.reservations[0].resources_changed], ['ACTIVE', true, true])
    assert.equal(healed.reservations[0].missing_resources, false)
    assert.equal((await api.inventories(up))[classOf(idOf(lease))].total, 2)
    assert.deepEqual(await api.inventories(down), {})
    await api.fsck()
    await turn(down, 'up')
    await api.end(lease.id)
  })

  void test('what fits nowhere is missing, until it is whole again', async () => {
    const pool = await api.pool(1)
    const [down] = pool.names as [string]
    const lease = await api.lease([instances({ amount: 2, resource_properties: pool.only })], { from: 30, to: 600 })
    await turn(down, 'down')
    await eventually(async () => {
      const shown = await api.show(lease.id)
      assert.deepEqual([shown.degraded, shown.reservations[0].missing_resources], [true, true])
    })
    await turn(down, 'up')
    await eventually(async () => {
      const shown = await api.show(lease.id)
      assert.deepEqual([shown.degraded, shown.reservations[0].missing_resources], [false, false])
      assert.deepEqual(await api.spread(idOf(lease)), [2])
    })
    await api.fsck()
    await api.end(lease.id)
  })
})
