// Allocations of one consumer: the forms that they had over time, generations, types, and what is left when they go.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { consumerBody, errorCode, expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'

const NOBODY = '00000000-0000-0000-0000-000000000000'

eachStore('allocations', api => {
  test('are a list up to 1.11 and keyed by provider from 1.12 on', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const path = `/allocations/${randomUUID()}`
    const list = { allocations: [{ resource_provider: { uuid: provider }, resources: { VCPU: 1 } }] }
    const keyed = { allocations: { [provider]: { resources: { VCPU: 1 } } } }
    const owner = { project_id: 'p', user_id: 'u' }
    expectStatus(await api.put(path, list, { version: '1.0' }), 204)
    assert.deepEqual((await api.get(path)).body.project_id, NOBODY)
    expectStatus(await api.put(path, { ...list, ...owner }, { version: '1.7' }), 400)
    expectStatus(await api.put(path, list, { version: '1.8' }), 400)
    expectStatus(await api.put(path, { ...list, ...owner }, { version: '1.11' }), 204)
    expectStatus(await api.put(path, { ...keyed, ...owner }, { version: '1.11' }), 400)
    expectStatus(await api.put(path, { ...list, ...owner }, { version: '1.12' }), 400)
    expectStatus(await api.put(path, { ...keyed, ...owner }, { version: '1.12' }), 204)
    expectStatus(await api.put(path, { ...keyed, ...owner }, { version: '1.28' }), 400)
    expectStatus(await api.put(path, { ...keyed, ...owner, consumer_generation: 3 }, { version: '1.28' }), 204)
    expectStatus(await api.put(path, { ...keyed, ...owner, consumer_generation: 4 }, { version: '1.38' }), 400)
    expectStatus(await api.put(path, consumerBody({ [provider]: { VCPU: 1 } }, 4)), 204)
  })

  test('are shown with as much about the consumer as the version has', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const consumer = randomUUID()
    expectStatus(await api.claim(consumer, { [provider]: { VCPU: 1 } }), 204)
    const members = async (version: string) =>
      Object.keys((await api.get(`/allocations/${consumer}`, { version })).body)
    assert.deepEqual(await members('1.11'), ['allocations'])
    assert.deepEqual(await members('1.12'), ['allocations', 'project_id', 'user_id'])
    assert.deepEqual(await members('1.28'), ['allocations', 'project_id', 'user_id', 'consumer_generation'])
    assert.deepEqual(await members('1.38'), [
      'allocations',
      'project_id',
      'user_id',
      'consumer_generation',
      'consumer_type',
    ])
    const { allocations } = (await api.get(`/resource_providers/${provider}/allocations`)).body
    assert.deepEqual(allocations, { [consumer]: { resources: { VCPU: 1 }, consumer_generation: 1 } })
  })

  test('of an unknown consumer are empty, and there is nothing to delete', async () => {
    for (const consumer of [randomUUID(), 'not-a-uuid']) {
      assert.deepEqual(expectStatus(await api.get(`/allocations/${consumer}`), 200).body, { allocations: {} })
      expectStatus(await api.del(`/allocations/${consumer}`), 404)
    }
    expectStatus(await api.claim('not-a-uuid', {}), 400)
  })

  test('replace all that the consumer had', async () => {
    const [one, two] = [await api.provider({ VCPU: 4, DISK_GB: 4 }), await api.provider({ VCPU: 4 })]
    const consumer = randomUUID()
    expectStatus(await api.claim(consumer, { [one]: { VCPU: 1, DISK_GB: 1 } }), 204)
    expectStatus(await api.claim(consumer, { [two]: { VCPU: 2 } }, 1), 204)
    assert.deepEqual(await api.claims(consumer), { [two]: { VCPU: 2 } })
    assert.deepEqual(await api.usages(one), { VCPU: 0, DISK_GB: 0 })
  })

  test('a consumer starts at null, each write counts one, and a wrong count changes nothing', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const consumer = randomUUID()
    const write = (amount: number, generation: number | null) =>
      api.claim(consumer, { [provider]: { VCPU: amount } }, generation)
    for (const wrong of [0, 1]) expectStatus(await write(1, wrong), 409)
    expectStatus(await write(1, null), 204)
    for (const wrong of [null, 0, 2]) {
      assert.equal(errorCode(expectStatus(await write(9, wrong), 409)), 'placement.concurrent_update')
    }
    expectStatus(await write(2, 1), 204)
    assert.equal((await api.get(`/allocations/${consumer}`)).body.consumer_generation, 2)
    const old = { allocations: { [provider]: { resources: { VCPU: 3 } } }, project_id: 'p', user_id: 'u' }
    expectStatus(await api.put(`/allocations/${consumer}`, old, { version: '1.27' }), 204)
    expectStatus(await write(4, 3), 204)
    expectStatus(await api.del(`/allocations/${consumer}`), 204)
    expectStatus(await write(1, null), 204)
  })

  test('an empty object clears a consumer from 1.28 on, and it may start anew', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const consumer = randomUUID()
    const empty = { allocations: {}, project_id: 'p', user_id: 'u' }
    expectStatus(await api.claim(consumer, { [provider]: { VCPU: 1 } }), 204)
    expectStatus(await api.put(`/allocations/${consumer}`, empty, { version: '1.27' }), 400)
    expectStatus(await api.claim(consumer, {}, 1), 204)
    assert.deepEqual((await api.get(`/allocations/${consumer}`)).body, { allocations: {} })
    expectStatus(await api.claim(consumer, { [provider]: { VCPU: 1 } }, null), 204)
  })

  test('a refused or empty first write leaves no consumer behind, so the next may say null again', async () => {
    const provider = await api.provider({ VCPU: 1 })
    const consumer = randomUUID()
    const write = (claims: Record<string, Record<string, number>>) => api.claim(consumer, claims, null)
    expectStatus(await write({ [randomUUID()]: { VCPU: 1 } }), 400)
    expectStatus(await write({ [provider]: { CUSTOM_NONE: 1 } }), 400)
    expectStatus(await write({ [provider]: { VCPU: 2 } }), 409)
    expectStatus(await write({ [provider]: { DISK_GB: 1 } }), 409)
    expectStatus(await write({}), 204)
    expectStatus(await write({ [provider]: { VCPU: 1 } }), 204)
    assert.equal((await api.get(`/allocations/${consumer}`)).body.consumer_generation, 1)
    await api.fsck()
  })

  test('a later write may give the consumer another owner and type, and old versions leave the type alone', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const consumer = randomUUID()
    const claims = { [provider]: { VCPU: 1 } }
    const who = async () => {
      const { project_id, user_id, consumer_type } = (await api.get(`/allocations/${consumer}`)).body
      return [project_id, user_id, consumer_type] as unknown[]
    }
    const old = { allocations: { [provider]: { resources: { VCPU: 1 } } }, project_id: 'p', user_id: 'u' }
    expectStatus(await api.put(`/allocations/${consumer}`, old, { version: '1.27' }), 204)
    assert.deepEqual(await who(), ['p', 'u', 'unknown'])
    expectStatus(await api.claim(consumer, claims, 1, { consumer_type: 'MIGRATION', project_id: 'q' }), 204)
    assert.deepEqual(await who(), ['q', 'a-user', 'MIGRATION'])
    expectStatus(await api.put(`/allocations/${consumer}`, old, { version: '1.27' }), 204)
    assert.deepEqual(await who(), ['p', 'u', 'MIGRATION'])
    for (const consumer_type of ['instance', '', 'A B', 7, null]) {
      const body = { ...consumerBody(claims, 3), consumer_type }
      expectStatus(await api.put(`/allocations/${consumer}`, body), 400)
    }
  })

  test('raise the generation of the providers that are named or cleared, and of no other', async () => {
    const [one, two] = [await api.provider({ VCPU: 9 }), await api.provider({ VCPU: 9 })]
    const consumer = randomUUID()
    const grown = async (step: () => Promise<unknown>) => {
      const before = [await api.generation(one), await api.generation(two)]
      await step()
      return [(await api.generation(one)) - before[0]!, (await api.generation(two)) - before[1]!]
    }
    assert.deepEqual(await grown(() => api.claim(consumer, { [one]: { VCPU: 1 } })), [1, 0])
    assert.deepEqual(await grown(() => api.claim(consumer, { [two]: { VCPU: 1 } }, 1)), [0, 1], 'left, not named')
    assert.deepEqual(await grown(() => api.claim(consumer, {}, 2)), [0, 1], 'cleared')
    assert.deepEqual(await grown(() => api.claim(consumer, { [one]: { VCPU: 1 } })), [1, 0])
    assert.deepEqual(await grown(() => api.del(`/allocations/${consumer}`)), [0, 0])
  })

  test('accept mappings from 1.34 on and ignore them', async () => {
    const provider = await api.provider({ VCPU: 9 })
    const path = `/allocations/${randomUUID()}`
    const { consumer_type: _, ...body } = consumerBody({ [provider]: { VCPU: 1 } })
    const mapped = { ...body, mappings: { _compute: [provider] } }
    expectStatus(await api.put(path, mapped, { version: '1.33' }), 400)
    expectStatus(await api.put(path, mapped, { version: '1.34' }), 204)
  })
})
