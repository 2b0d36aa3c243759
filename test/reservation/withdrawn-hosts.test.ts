// A host that is withdrawn leaves its empty child provider for a while, since nova-compute knows the tree from its last look.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inParallel } from '../races/clients.ts'
import { expectStatus } from '../support/placement.ts'
import { eachReservation, instances, type Reservation, type Shown } from '../support/reservation.ts'

const besideNova = (api: Reservation): void => {
  const childOf = (name: string): Promise<Shown> => api.provider(`blazar_${name}`)
  const withdrawn = async (name: string): Promise<Shown> => {
    const { id } = await api.host(name)
    expectStatus(await api.del(`/os-hosts/${id}`), 204)
    return childOf(name)
  }

  void test('the child stays, without inventory, and answers those who ask for its allocations', async () => {
    const child = await withdrawn('w1')
    assert.equal(child.parent_provider_uuid, (await api.provider('w1')).uuid)
    assert.deepEqual(await api.inventories('w1'), {})
    const { body } = expectStatus(await api.placement.get(`/resource_providers/${child.uuid}/allocations`), 200)
    assert.deepEqual(body.allocations, {})
    await api.fsck()
  })

  void test('nobody gives it an inventory or another name meanwhile', async () => {
    const { uuid } = await withdrawn('w2')
    expectStatus(await api.placement.setInventories(uuid, { VCPU: 1 }), 409)
    expectStatus(await api.placement.put(`/resource_providers/${uuid}`, { name: 'mine' }), 409)
  })

  void test('ten minutes later it is gone, and no sooner', async () => {
    await withdrawn('w3')
    await api.advance(9)
    assert.ok(await childOf('w3'))
    await api.advance(2)
    assert.equal(await childOf('w3'), undefined)
    assert.ok(await api.provider('w3'))
    await api.fsck()
  })

  void test('the hypervisor can be a host again meanwhile, and has the same child, which then stays', async () => {
    const { uuid } = await withdrawn('w4')
    const again = expectStatus(await api.post('/os-hosts', { name: 'w4', pool: 'w4' }), 201).body.host
    assert.equal((await childOf('w4')).uuid, uuid)
    await api.advance(11)
    assert.equal((await childOf('w4')).uuid, uuid)
    expectStatus(await api.placement.del(`/resource_providers/${uuid}`), 409)
    const lease = await api.lease([instances({ resource_properties: '["=", "$pool", "w4"]' })], { from: 1, to: 60 })
    await api.advance(2)
    await api.until(lease.id, 'ACTIVE')
    assert.equal(Object.keys(await api.inventories('w4')).length, 1)
    await api.end(lease.id)
    expectStatus(await api.del(`/os-hosts/${again.id}`), 204)
    await api.advance(11)
    assert.equal(await childOf('w4'), undefined)
  })

  void test('Placement deletes the child and then the root, as Nova does when a service is deleted', async () => {
    const { uuid } = await withdrawn('w5')
    const root = await api.provider('w5')
    expectStatus(await api.placement.del(`/resource_providers/${uuid}`), 204)
    expectStatus(await api.placement.del(`/resource_providers/${root.uuid}`), 204)
    assert.deepEqual([await api.provider('w5'), await childOf('w5')], [undefined, undefined])
  })

  void test('a root that is deleted alone takes the child with it', async () => {
    const child = await withdrawn('w6')
    const root = await api.provider('w6')
    expectStatus(await api.placement.del(`/resource_providers/${root.uuid}`), 204)
    assert.equal(expectStatus(await api.placement.get(`/resource_providers/${child.uuid}`), 404).status, 404)
    await api.fsck()
  })

  void test('children of others still keep a root from being deleted', async () => {
    await withdrawn('w7')
    const { uuid } = await api.provider('w7')
    await api.placement.provider({}, { name: 'numa-of-w7', parent: uuid })
    expectStatus(await api.placement.del(`/resource_providers/${uuid}`), 409)
    assert.ok(await childOf('w7'), 'nothing of it is done')
  })

  void test('withdrawing, making it a host and deleting its root at once leaves no half of it', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `race-${i}`)
    for (const name of names) await withdrawn(name)
    await inParallel(12, 24, async at => {
      const name = names[at % names.length]!
      if (at % 4 < 2) {
        expectStatus(await api.post('/os-hosts', { name }), 201, 404, 409)
        return
      }
      const root = await api.provider(name)
      if (root) expectStatus(await api.placement.del(`/resource_providers/${root.uuid}`), 204, 404, 409)
    })
    await api.fsck()
  })
}
eachReservation('withdrawn hosts', besideNova, { compute: 'off' })

eachReservation('withdrawn hosts of our own compute', api => {
  void test('take their reservation provider with them, and can be hosts again', async () => {
    const { id } = await api.host('w1')
    const root = await api.provider('w1')
    expectStatus(await api.del(`/os-hosts/${id}`), 204)
    assert.equal(await api.provider('blazar_w1'), undefined)
    assert.equal((await api.provider('w1')).uuid, root.uuid)
    await api.fsck()
    const again = expectStatus(await api.post('/os-hosts', { name: 'w1', pool: 'w1' }), 201).body.host
    const lease = await api.lease([instances({ resource_properties: '["=", "$pool", "w1"]' })], { from: 1, to: 60 })
    expectStatus(await api.del(`/os-hosts/${again.id}`), 409)
    assert.ok(await api.provider('blazar_w1'))
    await api.end(lease.id)
    expectStatus(await api.del(`/os-hosts/${again.id}`), 204)
    expectStatus(await api.placement.del(`/resource_providers/${root.uuid}`), 204)
  })

  void test('that are withdrawn and made hosts at once leave no half of it', async () => {
    const ids = await Promise.all(['a', 'b', 'c'].map(async name => [name, (await api.host(name)).id] as const))
    await inParallel(6, 24, async at => {
      const [name, id] = ids[at % ids.length]!
      if (at % 2 === 0) expectStatus(await api.post('/os-hosts', { name }), 201, 404, 409)
      else expectStatus(await api.del(`/os-hosts/${id}`), 204, 404, 409)
    })
    await api.fsck()
  })
})
