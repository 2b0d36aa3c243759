// Many clients on the same few consumers: each write is whole, and what is left adds up.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type Amounts, consumerBody, errorCode, expectStatus, isFull, type Placement } from '../support/placement.ts'
import { eachRace } from '../support/stores.ts'
import { chance, inParallel } from './clients.ts'

// Before consumers had generations, nothing but room can be a reason to refuse.
const UNCHECKED = { version: '1.27' }

eachRace('the same consumers', api => {
  test('rewriting, moving and releasing them at once is refused for lack of room only', async () => {
    const providers = await Promise.all(Array.from({ length: 4 }, () => api.provider({ VCPU: 12, MEMORY_MB: 4096 })))
    const consumers = Array.from({ length: 6 }, () => randomUUID())
    const below = chance(1)
    await inParallel(64, 1500, async () => {
      const consumer = consumers[below(consumers.length)]!
      if (below(4) === 0) return expectStatus(await api.del(`/allocations/${consumer}`), 204, 404)
      const body = { allocations: someClaims(providers, below), project_id: 'p', user_id: 'u' }
      const answer = await api.put(`/allocations/${consumer}`, body, UNCHECKED)
      return isFull(answer) ? answer : expectStatus(answer, 204)
    })
    await expectSums(api, providers, consumers)
    await api.fsck()
  })

  test('swapping claims between two consumers in one POST never loses or doubles one', async () => {
    // Full all the time: a swap that were not atomic would find no room, or leave some.
    const provider = await api.provider({ VCPU: 1 })
    const pair = [randomUUID(), randomUUID()] as const
    const owner = { project_id: 'p', user_id: 'u' }
    const has = { ...owner, allocations: { [provider]: { resources: { VCPU: 1 } } } }
    const hasNothing = { ...owner, allocations: {} }
    expectStatus(await api.post('/allocations', { [pair[0]]: has, [pair[1]]: hasNothing }, UNCHECKED), 204)
    await inParallel(64, 600, async index => {
      const [from, to] = index % 2 === 0 ? pair : [pair[1], pair[0]]
      expectStatus(await api.post('/allocations', { [from]: hasNothing, [to]: has }, UNCHECKED), 204)
      if (index % 20 === 0) assert.deepEqual(await api.usages(provider), { VCPU: 1 })
    })
    await expectSums(api, [provider], pair)
    await api.fsck()
  })

  test('of many writers with the same consumer generation exactly one wins', async () => {
    const provider = await api.provider({ VCPU: 1000 })
    const consumer = randomUUID()
    for (let generation = 0; generation < 8; generation++) {
      const answers = await inParallel(32, 32, index =>
        api.claim(consumer, { [provider]: { VCPU: index + 1 } }, generation === 0 ? null : generation),
      )
      const winners = answers.filter(({ status }) => status === 204)
      assert.equal(winners.length, 1)
      for (const answer of answers.filter(({ status }) => status !== 204)) {
        expectStatus(answer, 409)
        assert.equal(errorCode(answer), 'placement.concurrent_update')
      }
      assert.equal((await api.get(`/allocations/${consumer}`)).body.consumer_generation, generation + 1)
    }
    await api.fsck()
  })

  test('POSTs that share consumers in opposite order neither deadlock nor mix', async () => {
    const provider = await api.provider({ VCPU: 1_000_000 })
    const consumers = Array.from({ length: 8 }, () => randomUUID())
    await inParallel(64, 300, async index => {
      const order = index % 2 === 0 ? consumers : consumers.toReversed()
      const body = consumerBody({ [provider]: { VCPU: index + 1 } })
      const { consumer_generation: _, consumer_type: __, ...old } = body
      expectStatus(await api.post('/allocations', Object.fromEntries(order.map(c => [c, old])), UNCHECKED), 204)
    })
    const amounts = await Promise.all(consumers.map(async c => (await api.claims(c))[provider]!['VCPU']))
    assert.equal(new Set(amounts).size, 1, `all from one POST: ${amounts.join()}`)
    await api.fsck()
  })
})

function someClaims(providers: readonly string[], below: (limit: number) => number) {
  const chosen = providers.filter(() => below(2) === 0)
  const named = chosen.length > 0 ? chosen : [providers[0]!]
  return Object.fromEntries(named.map(p => [p, { resources: { VCPU: 1 + below(6), MEMORY_MB: 256 } }]))
}

/** What the providers say is in use must be what the consumers have. */
async function expectSums(api: Placement, providers: readonly string[], consumers: readonly string[]): Promise<void> {
  const sums = new Map<string, Amounts>()
  for (const consumer of consumers) {
    for (const [provider, amounts] of Object.entries(await api.claims(consumer))) {
      const sum = sums.getOrInsertComputed(provider, () => ({}))
      for (const [name, amount] of Object.entries(amounts)) sum[name] = (sum[name] ?? 0) + amount
    }
  }
  for (const provider of providers) {
    for (const [name, used] of Object.entries(await api.usages(provider))) {
      assert.equal(used, sums.get(provider)?.[name] ?? 0)
    }
  }
}
