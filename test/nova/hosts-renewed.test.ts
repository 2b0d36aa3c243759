// A compute service that is deleted and comes back has a new uuid in Nova. The host stays what it is, under that uuid.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { classOf, instances, Reservation, type Shown } from '../support/reservation.ts'
import { besideNova } from './hypervisors.ts'

besideNova('a compute service that is made anew', api => {
  const { nova } = api
  const renew = (name: string): { old: string; fresh: string } => {
    const old = nova.hypervisors.get(name)!.id
    const fresh = crypto.randomUUID()
    nova.list(name, fresh)
    return { old, fresh }
  }
  /** Asks each process the same. */
  async function everywhere(ask: (one: Reservation) => Promise<void>): Promise<void> {
    for (const origin of api.origins) {
      const one = new Reservation(origin)
      try {
        await ask(one)
      } finally {
        one.close()
      }
    }
  }
  async function eventually(check: () => Promise<void>): Promise<void> {
    const deadline = performance.now() + 30_000
    for (;;) {
      try {
        return await check()
      } catch (error) {
        if (performance.now() > deadline) throw error
        await sleep(50)
      }
    }
  }
  async function started(only: string, amount: number): Promise<Shown> {
    const lease = await api.lease([instances({ amount, resource_properties: only })], { from: 1, to: 600 })
    await api.advance(2)
    return api.until(lease.id, 'ACTIVE')
  }

  void test('its provider keeps its number, bookings, child and claims, and has the new uuid', async () => {
    const { names, ids, only } = await api.pool(1)
    const [name, id] = [names[0]!, ids[0]!]
    const lease = await started(only, 2)
    const reservation = lease.reservations[0].id
    const consumer = await api.takeSlot(name, reservation)
    const before = await api.provider(name)
    const { old, fresh } = renew(name)
    await api.look()

    const after = await api.provider(name)
    assert.equal(after.uuid, fresh)
    assert.ok(after.generation > before.generation)
    assert.equal(expectStatus(await api.get(`/os-hosts/${id}`), 200).body.host.reservable, true)
    assert.deepEqual((await api.slots())[name], { [reservation]: 2 })
    const { allocations } = expectStatus(await api.placement.get(`/allocations/${consumer}`), 200).body
    const child = await api.provider(`blazar_${name}`)
    assert.deepEqual(new Set(Object.keys(allocations)), new Set([fresh, child.uuid]))
    assert.deepEqual([child.parent_provider_uuid, child.root_provider_uuid], [fresh, fresh])
    expectStatus(await api.placement.get(`/resource_providers/${old}`), 404)
    assert.equal(await api.report(name), true)
    await api.fsck()
    expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    await api.end(lease.id)
  })

  void test('every process searches with the new uuid, and claims with it; the old one is nobody', async () => {
    const { names, only } = await api.pool(1)
    const name = names[0]!
    const lease = await started(only, 4)
    const resources = `VCPU:1,${classOf(lease.reservations[0].id)}:1`
    // Once before, so that answers are kept in memory.
    const candidates = async (one: Reservation) =>
      expectStatus(await one.placement.get(`/allocation_candidates?resources=${resources}`), 200).body
    await everywhere(async one => assert.equal((await candidates(one)).allocation_requests.length, 1))
    const { old, fresh } = renew(name)
    await api.look()
    const child = (await api.provider(`blazar_${name}`)).uuid
    await everywhere(async one => {
      await eventually(async () => {
        const { allocation_requests: requests, provider_summaries: summaries } = await candidates(one)
        assert.deepEqual(new Set(Object.keys(requests[0].allocations)), new Set([fresh, child]))
        assert.deepEqual(new Set(Object.keys(summaries)), new Set([fresh, child]))
        assert.equal(summaries[child].parent_provider_uuid, fresh)
        assert.equal(summaries[child].root_provider_uuid, fresh)
      })
      const inTree = async (uuid: string) =>
        expectStatus(await one.placement.get(`/resource_providers?in_tree=${uuid}`), 200).body.resource_providers.length
      assert.deepEqual([await inTree(fresh), await inTree(old)], [2, 0])
      const claim = (root: string) =>
        one.placement.claim(crypto.randomUUID(), {
          [root]: { VCPU: 1 },
          [child]: { [classOf(lease.reservations[0].id)]: 1 },
        })
      expectStatus(await claim(old), 400)
      expectStatus(await claim(fresh), 204)
    })
    const { allocations } = expectStatus(await api.placement.get(`/resource_providers/${child}/allocations`), 200).body
    for (const consumer of Object.keys(allocations))
      expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    await api.end(lease.id)
  })

  void test('nova-compute that comes before we have looked is refused once, and has us look', async () => {
    const { names } = await api.pool(1)
    const { fresh } = renew(names[0]!)
    assert.equal(await api.report(names[0]!), false)
    await eventually(async () => assert.equal(await api.report(names[0]!), true))
    assert.equal((await api.provider(names[0]!)).uuid, fresh)
  })

  void test('a name that is taken by what is no host does not have us ask Nova', async () => {
    await api.placement.provider({}, { name: 'just-a-name' })
    const { looks } = nova
    const twin = { uuid: crypto.randomUUID(), name: 'just-a-name' }
    expectStatus(await api.placement.post('/resource_providers', twin), 409)
    assert.equal(nova.looks, looks)
  })

  void test('between the end of the service and its return the host counts as down', async () => {
    const { names, ids } = await api.pool(1)
    const { id: old } = nova.hypervisors.get(names[0]!)!
    // Nova deletes the child and the root, and goes on when it may not.
    for (const { uuid } of [await api.provider(`blazar_${names[0]}`), { uuid: old }]) {
      expectStatus(await api.placement.del(`/resource_providers/${uuid}`), 409)
    }
    nova.hypervisors.delete(names[0]!)
    await api.look()
    const reservable = async () => expectStatus(await api.get(`/os-hosts/${ids[0]}`), 200).body.host.reservable
    assert.equal(await reservable(), false)
    nova.list(names[0]!, crypto.randomUUID())
    await api.look()
    assert.equal(await reservable(), true)
    assert.equal(await api.report(names[0]!), true)
  })

  void test('a new uuid that another provider has is not taken from it: the host counts as down', async () => {
    const { names, ids } = await api.pool(1)
    const other = await api.placement.provider({ VCPU: 2 }, { name: `was-${names[0]}` })
    const old = nova.hypervisors.get(names[0]!)!.id
    nova.list(names[0]!, other)
    await api.look()
    assert.equal(expectStatus(await api.get(`/os-hosts/${ids[0]}`), 200).body.host.reservable, false)
    assert.equal((await api.provider(names[0]!)).uuid, old)
    await api.fsck()
    expectStatus(await api.placement.del(`/resource_providers/${other}`), 204)
    await api.look()
    assert.equal((await api.provider(names[0]!)).uuid, other)
    assert.equal(expectStatus(await api.get(`/os-hosts/${ids[0]}`), 200).body.host.reservable, true)
  })

  void test('a uuid that is none changes nothing', async () => {
    const { names } = await api.pool(1)
    const old = nova.hypervisors.get(names[0]!)!.id
    for (const wrong of ['', '17', 'NOT-A-UUID']) {
      nova.list(names[0]!, wrong)
      await api.look()
      assert.equal((await api.provider(names[0]!)).uuid, old)
    }
    nova.list(names[0]!, old)
    await api.look()
  })

  void test('several hosts that are renewed while all processes look and servers come and go', async () => {
    const { names, only } = await api.pool(4)
    const lease = await started(only, 8)
    const reservation = lease.reservations[0].id
    for (let round = 0; round < 5; round++) {
      for (const name of names) renew(name)
      const on = Object.keys(await api.slots()).filter(name => names.includes(name))
      await Promise.all([
        everywhere(one => one.advance(0)),
        everywhere(one => one.advance(0)),
        ...on.map(async name => {
          const [root, child] = [await api.provider(name), await api.provider(`blazar_${name}`)]
          const claims = { [root.uuid]: { VCPU: 1 }, [child.uuid]: { [classOf(reservation)]: 1 } }
          // Refused if the uuid was just renewed, or the slots are taken.
          expectStatus(await api.placement.claim(crypto.randomUUID(), claims), 204, 400, 409)
        }),
      ])
      await api.look()
      for (const name of names) assert.equal((await api.provider(name)).uuid, nova.hypervisors.get(name)!.id)
      await api.fsck()
    }
    for (const name of names) {
      const { uuid } = await api.provider(`blazar_${name}`)
      const { allocations } = expectStatus(await api.placement.get(`/resource_providers/${uuid}/allocations`), 200).body
      for (const consumer of Object.keys(allocations))
        expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    }
    await api.end(lease.id)
  })
})
