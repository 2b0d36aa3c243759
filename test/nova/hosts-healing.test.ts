// Healing over a Nova is healing as with our own hypervisors; and a host that Nova no longer has is down.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { healingSuite } from '../reservation/healing-suite.ts'
import { classOf, instances } from '../support/reservation.ts'
import { besideNova } from './hypervisors.ts'

besideNova('healing over Nova', api => {
  const { nova } = api
  healingSuite(api, async (name, to) => {
    const status = to === 'disabled' ? 'disabled' : 'enabled'
    nova.change(name, { state: to === 'down' ? 'down' : 'up', status })
    await api.look()
  })

  const hostOf = async (reservation: string) =>
    Object.entries(await api.slots()).find(([, on]) => (on[reservation] ?? 0) > 0)?.[0]

  void test('what was booked on a host that is gone from Nova moves; nothing moves while Nova is away', async () => {
    const { names, only } = await api.pool(2)
    const lease = await api.lease([instances({ amount: 2, resource_properties: only })], { from: 5, to: 600 })
    await api.advance(6)
    await api.until(lease.id, 'ACTIVE')
    const { id } = lease.reservations[0]
    const first = (await hostOf(id))!
    nova.hypervisors.delete(first)
    nova.failsWith = 503
    await api.look()
    assert.equal(await hostOf(id), first)
    nova.failsWith = null
    await api.look()
    const second = names.find(name => name !== first)!
    assert.equal(await hostOf(id), second)
    assert.equal((await api.inventories(second))[classOf(id)].total, 2)
    assert.deepEqual(await api.inventories(first), {})
    await api.fsck()
    await api.end(lease.id)
  })

  void test('a rack that goes down at once is healed elsewhere, and not within itself', async () => {
    const { names, only } = await api.pool(6)
    const leases = []
    for (let at = 0; at < 3; at++) {
      leases.push(await api.lease([instances({ vcpus: 8, resource_properties: only })], { from: 30, to: 90 }))
    }
    const slots = await api.slots()
    const rack = names.filter(name => Object.keys(slots[name] ?? {}).length > 0)
    assert.equal(rack.length, 3)
    for (const name of rack) nova.change(name, { state: 'down' })
    await api.look()
    for (const { reservations } of leases) {
      assert.ok(!rack.includes((await hostOf(reservations[0].id))!))
      assert.equal((await api.show(reservations[0].lease_id)).reservations[0].missing_resources, false)
    }
    for (const lease of leases) await api.end(lease.id)
  })
})
