// POST /allocations: claims of many consumers as one change. The names of the tests are the sentences of its spec.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { consumerBody, errorCode, expectStatus, isFull, type Placement } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'

const newUuids = (count: number) => Array.from({ length: count }, () => randomUUID() as string)

eachStore('POST /allocations', api => {
  test('accepts a collection of allocation requests for multiple consumers and saves all of them', async () => {
    const [target, disk] = [await api.provider({ VCPU: 8, MEMORY_MB: 4096 }), await api.provider({ DISK_GB: 100 })]
    const [instance, migration] = newUuids(2) as [string, string]
    const answer = await api.post('/allocations', {
      [instance]: consumerBody({ [target]: { MEMORY_MB: 1024, VCPU: 2 }, [disk]: { DISK_GB: 5 } }),
      [migration]: consumerBody({ [target]: { MEMORY_MB: 1024, VCPU: 2 } }, null, { consumer_type: 'MIGRATION' }),
    })
    expectStatus(answer, 204)
    assert.equal(answer.body, null)
    assert.deepEqual(await api.claims(instance), { [target]: { MEMORY_MB: 1024, VCPU: 2 }, [disk]: { DISK_GB: 5 } })
    assert.deepEqual(await api.claims(migration), { [target]: { MEMORY_MB: 1024, VCPU: 2 } })
    assert.deepEqual(await api.usages(target), { VCPU: 4, MEMORY_MB: 2048 })
  })

  test('allocations from multiple logical users are handled correctly', async () => {
    const provider = await api.provider({ VCPU: 8 })
    const [one, two] = newUuids(2) as [string, string]
    const claims = { [provider]: { VCPU: 1 } }
    const body = {
      [one]: consumerBody(claims, null, { project_id: 'project-1', user_id: 'user-1' }),
      [two]: consumerBody(claims, null, { project_id: 'project-2', user_id: 'user-2', consumer_type: 'OTHER' }),
    }
    expectStatus(await api.post('/allocations', body), 204)
    for (const [consumer, expected] of Object.entries(body)) {
      const { allocations: _, consumer_generation, ...owner } = (await api.get(`/allocations/${consumer}`)).body
      const { project_id, user_id, consumer_type } = expected
      assert.deepEqual({ ...owner }, { project_id, user_id, consumer_type })
      assert.equal(consumer_generation, 1)
    }
  })

  test('an empty value for the allocations key means that the allocations of that consumer are removed', async () => {
    const provider = await api.provider({ VCPU: 8 })
    for (const version of ['1.13', '1.39']) {
      const [stays, goes] = newUuids(2) as [string, string]
      for (const consumer of [stays, goes]) expectStatus(await api.claim(consumer, { [provider]: { VCPU: 1 } }), 204)
      const { consumer_generation: _, consumer_type: __, ...old } = consumerBody({})
      const body = version === '1.13' ? old : consumerBody({}, 1)
      expectStatus(await api.post('/allocations', { [goes]: body }, { version }), 204)
      assert.deepEqual((await api.get(`/allocations/${goes}`)).body, { allocations: {} })
      assert.deepEqual(await api.claims(stays), { [provider]: { VCPU: 1 } })
    }
    assert.deepEqual(await api.usages(provider), { VCPU: 2 })
  })

  test('a move changes the instance claim into a migration claim in one request', async () => {
    const [source, target] = [await api.provider({ VCPU: 2 }), await api.provider({ VCPU: 2 })]
    const [instance, migration] = newUuids(2) as [string, string]
    const all = { VCPU: 2 }
    expectStatus(await api.claim(instance, { [source]: all }), 204)

    // The source is full, and stays so: nobody can get in between.
    const swap = {
      [migration]: consumerBody({ [source]: all }, null, { consumer_type: 'MIGRATION' }),
      [instance]: consumerBody({ [target]: all }, 1),
    }
    expectStatus(await api.post('/allocations', swap), 204)
    assert.deepEqual(await api.claims(migration), { [source]: all })
    assert.deepEqual(await api.claims(instance), { [target]: all })
    assert.ok(isFull(await api.claim(randomUUID(), { [source]: { VCPU: 1 } })))

    // If the build succeeds, the migration claim is removed.
    expectStatus(await api.del(`/allocations/${migration}`), 204)
    assert.deepEqual([await api.usages(source), await api.usages(target)], [{ VCPU: 0 }, { VCPU: 2 }])
    await api.fsck()
  })

  test('a full provider can be handed from one consumer to another, whatever their order in the body', async () => {
    const provider = await api.provider({ VCPU: 1 })
    let [has, hasNot] = newUuids(2).sort() as [string, string]
    expectStatus(await api.claim(has, { [provider]: { VCPU: 1 } }), 204)
    for (let round = 0; round < 4; round++) {
      const bodies = [
        [has, consumerBody({}, 1)],
        [hasNot, consumerBody({ [provider]: { VCPU: 1 } })],
      ]
      const body = Object.fromEntries(round % 2 === 0 ? bodies : bodies.toReversed()) as object
      expectStatus(await api.post('/allocations', body), 204)
      ;[has, hasNot] = [hasNot, has]
    }
    assert.deepEqual(await api.claims(has), { [provider]: { VCPU: 1 } })
    await api.fsck()
  })

  const good = (provider: string) => consumerBody({ [provider]: { VCPU: 1 } })
  for (const [what, status, bad] of [
    ['the JSON body does not match the schema', 400, (p: string) => ({ ...good(p), surprise: 1 })],
    ['a resource provider named in the body does not exist', 400, () => consumerBody({ [randomUUID()]: { VCPU: 1 } })],
    ['a resource class named in the body does not exist', 400, (p: string) => consumerBody({ [p]: { CUSTOM_NO: 1 } })],
    ['an allocation violates available capacity', 409, (p: string) => consumerBody({ [p]: { VCPU: 100 } })],
    ['an allocation violates inventory constraints', 409, (p: string) => consumerBody({ [p]: { DISK_GB: 3 } })],
    ['a provider has no such inventory', 409, (p: string) => consumerBody({ [p]: { MEMORY_MB: 1 } })],
    ['a consumer generation does not match', 409, (p: string) => consumerBody({ [p]: { VCPU: 1 } }, 7)],
  ] as const) {
    test(`fails all of them when ${what}`, async () => {
      const provider = await api.provider({ VCPU: 10, DISK_GB: { total: 10, step_size: 2 } })
      const consumers = newUuids(6)
      const changed = consumers[0]!
      expectStatus(await api.claim(changed, { [provider]: { VCPU: 2 } }), 204)
      const before = await picture(api, provider, consumers)
      for (const at of [0, 3, 6]) {
        const bodies = consumers.map(consumer => [
          consumer,
          consumer === changed ? consumerBody({}, 1) : good(provider),
        ])
        bodies.splice(at, 0, [randomUUID(), bad(provider)])
        expectStatus(await api.post('/allocations', Object.fromEntries(bodies)), status)
        assert.deepEqual(await picture(api, provider, consumers), before)
      }
      await api.fsck()
    })
  }

  test('sums what its consumers want of one inventory', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const post = (amounts: readonly number[]) =>
      api.post(
        '/allocations',
        Object.fromEntries(amounts.map(amount => [randomUUID(), consumerBody({ [provider]: { VCPU: amount } })])),
      )
    assert.ok(isFull(await post([6, 5])))
    assert.ok(isFull(await post([1, 1, 1, 8])))
    expectStatus(await post([6, 4]), 204)
    assert.ok(isFull(await post([1])))
  })

  test('counts one generation for a provider, however many consumers name it', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const body = Object.fromEntries(newUuids(5).map(uuid => [uuid, consumerBody({ [provider]: { VCPU: 1 } })]))
    expectStatus(await api.post('/allocations', body), 204)
    assert.equal(await api.generation(provider), 2)
  })

  test('takes a thousand consumers at once', async () => {
    const provider = await api.provider({ VCPU: 1000 })
    const body = Object.fromEntries(newUuids(1000).map(uuid => [uuid, consumerBody({ [provider]: { VCPU: 1 } })]))
    expectStatus(await api.post('/allocations', body), 204)
    assert.deepEqual(await api.usages(provider), { VCPU: 1000 })
  })

  test('of two with the same thousands of consumers one is granted whole, and the other changes nothing', async () => {
    const providers = await Promise.all([1, 2].map(() => api.provider({ VCPU: 6_000 })))
    const consumers = newUuids(3_000)
    const posts = (generation: number | null) =>
      providers.map(provider => {
        const body = consumerBody({ [provider]: { VCPU: 1 } }, generation)
        return api.post('/allocations', Object.fromEntries(consumers.map(consumer => [consumer, body])))
      })
    for (const generation of [null, 1, 2]) {
      const answers = await Promise.all(posts(generation))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204, 409]))
      const granted = answers.findIndex(({ status }) => status === 204)
      assert.deepEqual(await api.usages(providers[granted]!), { VCPU: 3_000 })
      assert.deepEqual(await api.usages(providers[1 - granted]!), { VCPU: 0 })
    }
    assert.equal((await api.get(`/allocations/${consumers.at(-1)!}`)).body.consumer_generation, 3)
  })

  test('knows consumers and providers by their uuids, whatever the spelling', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const consumer = randomUUID()
    const loud = { [consumer.toUpperCase()]: consumerBody({ [provider.toUpperCase()]: { VCPU: 2 } }) }
    expectStatus(await api.post('/allocations', loud), 204)
    assert.deepEqual(await api.claims(consumer), { [provider]: { VCPU: 2 } })
    assert.deepEqual(await api.claims(consumer.toUpperCase()), { [provider]: { VCPU: 2 } })
    expectStatus(await api.claim(consumer, { [provider]: { VCPU: 3 } }, 1), 204)
    assert.deepEqual(await api.usages(provider), { VCPU: 3 })

    const amounts = { [provider]: { VCPU: 1 } }
    const [a, b] = ['a'.repeat(8) + consumer.slice(8), 'A'.repeat(8) + consumer.slice(8)]
    for (const twice of [
      { [a]: consumerBody(amounts), [b]: consumerBody(amounts) },
      { [a]: consumerBody({ ...amounts, [provider.toUpperCase()]: { VCPU: 1 } }) },
      { ['-'.repeat(36)]: consumerBody(amounts) },
    ]) {
      expectStatus(await api.post('/allocations', twice), 400)
    }
    assert.deepEqual(await api.claims(a), {})
    expectStatus(await api.del(`/allocations/${consumer.toUpperCase()}`), 204)
    assert.deepEqual(await api.usages(provider), { VCPU: 0 })
    await api.fsck()
  })

  test('is there from 1.13 on, and needs at least one consumer with a uuid', async () => {
    expectStatus(await api.post('/allocations', {}, { version: '1.12' }), 404)
    expectStatus(await api.post('/allocations', {}), 400)
    expectStatus(await api.post('/allocations', { 'not-a-uuid': consumerBody({}) }), 400)
    const stale = await api.post('/allocations', { [randomUUID()]: consumerBody({}, 5) })
    assert.equal(errorCode(expectStatus(stale, 409)), 'placement.concurrent_update')
    const id = randomUUID()
    expectStatus(await api.post('/allocations', { [id]: consumerBody({}) }), 204)
    assert.deepEqual((await api.get(`/allocations/${id}`)).body, { allocations: {} }, 'no consumer for nothing')
    await api.fsck()
  })
})

/** All that a failed request could have touched. */
async function picture(api: Placement, provider: string, consumers: readonly string[]): Promise<unknown> {
  const paths = [`/resource_providers/${provider}`, `/resource_providers/${provider}/allocations`]
  const all = [...paths, `/resource_providers/${provider}/usages`, ...consumers.map(c => `/allocations/${c}`)]
  return Promise.all(all.map(async path => (await api.get(path)).body as unknown))
}
