// What must be true of healing, whoever says how hosts are: our own compute slice, or a Nova.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { classOf, expectError, instances, type Pool, type Reservation, type Shown } from '../support/reservation.ts'

export type Turned = 'up' | 'down' | 'disabled'

/** `turn` changes a hypervisor, and returns when all duties have looked. */
export function healingSuite(api: Reservation, turn: (name: string, to: Turned) => Promise<void>): void {
  const idOf = (lease: Shown): string => lease.reservations[0].id
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
    const wanted = [instances({ resource_properties: pool.only })]
    await turn(pool.names[0]!, 'disabled')
    await eventually(async () => void expectError(await api.tryLease(wanted), 409))
    await turn(pool.names[0]!, 'up')
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

  void test('what a host has no room for any more moves away', async () => {
    const pool = await api.pool(2)
    const lease = await api.lease([instances({ amount: 4, vcpus: 2, resource_properties: pool.only })])
    const shrunk = (await hostOf(idOf(lease)))!
    const { uuid } = await api.provider(shrunk)
    await api.placement.setInventories(uuid, { VCPU: 4, MEMORY_MB: 16_384, DISK_GB: 200 })
    await api.advance(0)
    await eventually(async () => {
      const there = (await api.slots())[shrunk]?.[idOf(lease)] ?? 0
      assert.ok(there * 2 <= 4)
      assert.equal(
        (await api.spread(idOf(lease))).reduce((sum, slots) => sum + slots, 0),
        4,
      )
    })
    await api.end(lease.id)
  })
}
