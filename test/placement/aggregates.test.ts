// Aggregates of a provider: a set of uuids, with a generation from 1.19 on.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { errorCode, expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'

eachStore('aggregates', api => {
  test('are a bare list without generation up to 1.18', async () => {
    const path = `/resource_providers/${await api.provider()}/aggregates`
    const uuids = [randomUUID(), randomUUID()]
    const old = { version: '1.18' }
    assert.deepEqual(expectStatus(await api.put(path, uuids, old), 200).body, { aggregates: uuids })
    assert.deepEqual(new Set((await api.get(path, old)).body.aggregates), new Set(uuids))
    assert.equal((await api.get(path)).body.resource_provider_generation, 0, 'which it does not touch')
  })

  test('check and raise the generation from 1.19 on, even when nothing changes', async () => {
    const path = `/resource_providers/${await api.provider()}/aggregates`
    const aggregates = [randomUUID()]
    const put = (generation: number) => api.put(path, { aggregates, resource_provider_generation: generation })
    assert.equal(expectStatus(await put(0), 200).body.resource_provider_generation, 1)
    assert.equal(expectStatus(await put(1), 200).body.resource_provider_generation, 2)
    assert.equal(errorCode(expectStatus(await put(1), 409)), 'placement.concurrent_update')
  })

  test('are shown as they were sent, and found in any spelling', async () => {
    const provider = await api.provider()
    const path = `/resource_providers/${provider}/aggregates`
    const dashed = randomUUID()
    const sent = [dashed.replaceAll('-', '')]
    const body = { aggregates: [...sent, dashed], resource_provider_generation: 0 }
    assert.equal(expectStatus(await api.put(path, body), 200).body.aggregates.length, 1)
    const after = await api.put(path, { aggregates: sent, resource_provider_generation: 1 })
    assert.deepEqual(expectStatus(after, 200).body.aggregates, sent)
    assert.deepEqual((await api.get(path)).body.aggregates, sent)
    for (const spelling of [dashed, sent[0]]) {
      const found = await api.get(`/resource_providers?member_of=${spelling}`)
      assert.deepEqual(
        expectStatus(found, 200).body.resource_providers.map(({ uuid }: { uuid: string }) => uuid),
        [provider],
      )
    }
  })

  test('are replaced as a whole, and each is named once', async () => {
    const path = `/resource_providers/${await api.provider()}/aggregates`
    const [one, two] = [randomUUID(), randomUUID()]
    const put = (aggregates: unknown[], generation: number) =>
      api.put(path, { aggregates, resource_provider_generation: generation })
    expectStatus(await put([one, two], 0), 200)
    expectStatus(await put([one, one], 1), 400)
    expectStatus(await put(['no-uuid'], 1), 400)
    expectStatus(await put([two], 1), 200)
    assert.deepEqual((await api.get(path)).body.aggregates, [two])
    expectStatus(await put([], 2), 200)
    assert.deepEqual((await api.get(path)).body.aggregates, [])
  })
})
