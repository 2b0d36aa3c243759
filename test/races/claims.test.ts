// Many clients on few providers: exactly what fits is claimed, and nobody is refused while there is room.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { consumerBody, expectStatus, isFull } from '../support/placement.ts'
import { eachRace } from '../support/stores.ts'
import { clients, inParallel } from './clients.ts'

eachRace('claims in a race', api => {
  test('64 clients fill one provider to exactly its capacity', async () => {
    const capacity = 640
    const provider = await api.provider({ VCPU: capacity })
    const granted = await clients(64, async () => {
      let count = 0
      for (let tries = 0; tries <= capacity; tries++) {
        const answer = await api.claim(randomUUID(), { [provider]: { VCPU: 1 } })
        if (isFull(answer)) return count
        expectStatus(answer, 204)
        count++
      }
      return assert.fail('the provider never got full')
    })
    assert.equal(
      granted.reduce((sum, count) => sum + count, 0),
      capacity,
    )
    assert.deepEqual(await api.usages(provider), { VCPU: capacity })
    await api.fsck()
  })

  test('64 clients with amounts of every size leave less room than the smallest refused', async () => {
    const capacity = 1000
    const provider = await api.provider({ MEMORY_MB: capacity })
    const outcomes = await inParallel(64, 400, async index => {
      const amount = 1 + (index % 17)
      const answer = await api.claim(randomUUID(), { [provider]: { MEMORY_MB: amount } })
      if (!isFull(answer)) expectStatus(answer, 204)
      return { amount, granted: answer.status === 204 }
    })
    const used = outcomes.filter(({ granted }) => granted).reduce((sum, { amount }) => sum + amount, 0)
    assert.deepEqual(await api.usages(provider), { MEMORY_MB: used })
    const refused = outcomes.filter(({ granted }) => !granted).map(({ amount }) => amount)
    assert.ok(refused.length > 0)
    assert.ok(used <= capacity && used + Math.min(...refused) > capacity)
    await api.fsck()
  })

  test('claims on two providers in opposite order all succeed', async () => {
    const [one, two] = [await api.provider({ VCPU: 100_000 }), await api.provider({ VCPU: 100_000 })]
    await inParallel(64, 600, async index => {
      const [first, second] = index % 2 === 0 ? [one, two] : [two, one]
      const body = {
        [randomUUID()]: consumerBody({ [first]: { VCPU: 1 }, [second]: { VCPU: 2 } }),
        [randomUUID()]: consumerBody({ [second]: { VCPU: 1 }, [first]: { VCPU: 2 } }),
      }
      expectStatus(await api.post('/allocations', body), 204)
    })
    assert.deepEqual(await api.usages(one), { VCPU: 600 * 3 })
    assert.deepEqual(await api.usages(two), { VCPU: 600 * 3 })
    await api.fsck()
  })

  test('a POST that fails at its last consumer leaves no trace, however many try', async () => {
    const [roomy, full] = [await api.provider({ VCPU: 100_000 }), await api.provider({ VCPU: 1 })]
    expectStatus(await api.claim(randomUUID(), { [full]: { VCPU: 1 } }), 204)
    const generation = await api.generation(roomy)
    const consumers = await inParallel(64, 200, async () => {
      const uuids = Array.from({ length: 5 }, () => randomUUID())
      const bodies = uuids.map((uuid, i) => [uuid, consumerBody({ [i === 4 ? full : roomy]: { VCPU: 1 } })])
      const answer = await api.post('/allocations', Object.fromEntries(bodies))
      assert.ok(isFull(answer), JSON.stringify(answer.body))
      return uuids
    })
    assert.deepEqual(await api.usages(roomy), { VCPU: 0 })
    assert.equal(await api.generation(roomy), generation)
    for (const uuid of consumers.flat().slice(0, 50)) assert.deepEqual(await api.claims(uuid), {})
    await api.fsck()
  })
})
