// Inventories: their defaults and ranges, what may be reserved, and how they count in the provider's generation.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { errorCode, expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'

const INT_MAX = 2_147_483_647
const DEFAULTS = { reserved: 0, min_unit: 1, max_unit: INT_MAX, step_size: 1, allocation_ratio: 1 }

eachStore('inventories', api => {
  test('get defaults for what is left out', async () => {
    const provider = await api.provider({ VCPU: 4 })
    const path = `/resource_providers/${provider}/inventories`
    const expected = { total: 4, ...DEFAULTS }
    assert.deepEqual((await api.get(path)).body, { inventories: { VCPU: expected }, resource_provider_generation: 1 })
    assert.deepEqual((await api.get(`${path}/VCPU`)).body, { ...expected, resource_provider_generation: 1 })
  })

  test('take whole numbers in their ranges and nothing else', async () => {
    const provider = await api.provider()
    const post = (terms: object) =>
      api.post(`/resource_providers/${provider}/inventories`, { resource_class: 'VCPU', total: 10, ...terms })
    const outside = [0, -1, 1.5, INT_MAX + 1, 1e30, '1', null, true]
    for (const name of ['total', 'min_unit', 'max_unit', 'step_size']) {
      for (const value of outside) expectStatus(await post({ [name]: value }), 400)
    }
    for (const value of outside.slice(1)) expectStatus(await post({ reserved: value }), 400)
    for (const value of ['1', null, -1]) expectStatus(await post({ allocation_ratio: value }), 400)
    expectStatus(await post({ surprise: 1 }), 400)
    expectStatus(await post({ min_unit: 5, max_unit: 4 }), 400)
    assert.equal(await api.generation(provider), 0)
    const largest = { total: INT_MAX, max_unit: INT_MAX, step_size: INT_MAX, allocation_ratio: 3.4e38 }
    expectStatus(await post(largest), 201)
    assert.equal((await api.get(`/resource_providers/${provider}/inventories/VCPU`)).body.allocation_ratio, 3.4e38)
  })

  test('may be reserved to the last from 1.26 on, and never beyond', async () => {
    const provider = await api.provider()
    const put = (reserved: number, version: string) =>
      api.put(
        `/resource_providers/${provider}/inventories`,
        { resource_provider_generation: 0, inventories: { VCPU: { total: 4, reserved } } },
        { version },
      )
    expectStatus(await put(4, '1.25'), 400)
    expectStatus(await put(5, '1.39'), 400)
    expectStatus(await put(4, '1.26'), 200)
  })

  test('each change counts one generation, and a wrong generation changes nothing', async () => {
    const provider = await api.provider()
    const path = `/resource_providers/${provider}/inventories`
    const set = (generation: number, total: number) =>
      api.put(path, { resource_provider_generation: generation, inventories: { VCPU: { total } } })
    const one = (generation: number) => api.put(`${path}/VCPU`, { resource_provider_generation: generation, total: 9 })
    assert.equal((await set(0, 1)).body.resource_provider_generation, 1)
    assert.equal((await set(1, 1)).body.resource_provider_generation, 2, 'even when nothing changes')
    for (const stale of [await set(1, 7), await one(1)]) {
      assert.equal(errorCode(expectStatus(stale, 409)), 'placement.concurrent_update')
    }
    assert.equal((await one(2)).body.resource_provider_generation, 3)
    const added = await api.post(path, { resource_class: 'DISK_GB', total: 1, resource_provider_generation: 99 })
    assert.equal(expectStatus(added, 201).body.resource_provider_generation, 4, 'POST never checked it')
    expectStatus(await api.del(`${path}/DISK_GB`), 204)
    expectStatus(await api.del(path), 204)
    assert.equal(await api.generation(provider), 6)
  })

  test('unknown classes and absent inventories are told apart', async () => {
    const provider = await api.provider({ VCPU: 4 })
    const path = `/resource_providers/${provider}/inventories`
    const body = { total: 1, resource_provider_generation: 1 }
    expectStatus(await api.put(`${path}/DISK_GB`, body), 400)
    expectStatus(await api.put(`${path}/CUSTOM_NONE`, body), 404)
    expectStatus(await api.get(`${path}/DISK_GB`), 404)
    expectStatus(await api.del(`${path}/DISK_GB`), 404)
    for (const name of ['CUSTOM_NONE', 'vcpu', '__proto__', 'constructor']) {
      const inventories = JSON.parse(`{"${name}": {"total": 1}}`) as object
      expectStatus(await api.put(path, { resource_provider_generation: 1, inventories }), 400)
    }
    expectStatus(await api.post(path, { resource_class: 'VCPU', total: 1 }), 409)
  })

  test('in use are not removed, and say so with the code of the way it was tried', async () => {
    const provider = await api.provider({ VCPU: 4, DISK_GB: 4 })
    expectStatus(await api.claim(randomUUID(), { [provider]: { VCPU: 1 } }), 204)
    const path = `/resource_providers/${provider}/inventories`
    const generation = await api.generation(provider)
    const without = { resource_provider_generation: generation, inventories: { DISK_GB: { total: 4 } } }
    assert.equal(errorCode(expectStatus(await api.put(path, without), 409)), 'placement.inventory.inuse')
    assert.equal(errorCode(expectStatus(await api.del(path), 409)), 'placement.inventory.inuse')
    assert.equal(errorCode(expectStatus(await api.del(`${path}/VCPU`), 409)), 'placement.concurrent_update')
    assert.equal(await api.generation(provider), generation)
    assert.equal(Object.keys((await api.get(path)).body.inventories).length, 2)
  })
})
