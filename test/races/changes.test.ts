// Claims while what they stand on is being changed or taken away: the ledger never tears, and nobody gets a 5xx.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { consumerBody, errorCode, expectStatus, isFull } from '../support/placement.ts'
import { eachRace } from '../support/stores.ts'
import { chance, clients, inParallel } from './clients.ts'

eachRace('claims and changes at once', api => {
  test('an inventory that grows and shrinks is never sold beyond its largest size', async () => {
    const provider = await api.provider({ VCPU: 50 })
    const below = chance(2)
    const held: string[] = []
    await inParallel(48, 500, async index => {
      if (index % 9 === 0) {
        const answer = await api.setInventories(provider, { VCPU: 20 + below(60) })
        return expectStatus(answer, 200, 409)
      }
      const done = held.length > 10 && below(3) === 0 ? held.pop() : undefined
      if (done) return expectStatus(await api.del(`/allocations/${done}`), 204)
      const consumer = randomUUID()
      const answer = await api.claim(consumer, { [provider]: { VCPU: 1 + below(3) } })
      if (isFull(answer)) return answer
      held.push(consumer)
      return expectStatus(answer, 204)
    })
    assert.ok((await api.usages(provider))['VCPU']! < 80)
    await api.fsck()
  })

  test('an inventory is removed or claimed, not both', async () => {
    for (let round = 0; round < 10; round++) {
      const provider = await api.provider({ VCPU: 50, DISK_GB: 50 })
      const path = `/resource_providers/${provider}/inventories`
      const answers = await clients(24, async index => {
        if (index % 6 === 5) return expectStatus(await api.del(`${path}/VCPU`), 204, 404, 409)
        const answer = await api.claim(randomUUID(), { [provider]: { VCPU: 1 } })
        return expectStatus(answer, 204, 409)
      })
      const claimed = answers.filter(({ status }, index) => index % 6 !== 5 && status === 204).length
      assert.equal((await api.usages(provider))['VCPU'] ?? 0, claimed)
    }
    await api.fsck()
  })

  test('a provider is deleted or claimed, not both', async () => {
    for (let round = 0; round < 10; round++) {
      const provider = await api.provider({ VCPU: 50 })
      const consumers = Array.from({ length: 20 }, () => randomUUID())
      const answers = await clients(24, async index => {
        if (index >= 20) return expectStatus(await api.del(`/resource_providers/${provider}`), 204, 404, 409)
        // 400: by then there is no such provider.
        return expectStatus(await api.claim(consumers[index]!, { [provider]: { VCPU: 1 } }), 204, 400, 409)
      })
      const claimed = answers.slice(0, 20).filter(({ status }) => status === 204).length
      const deleted = answers.slice(20).filter(({ status }) => status === 204).length
      assert.ok(claimed === 0 ? deleted === 1 : deleted === 0, `${claimed} claims, ${deleted} deletions`)
      for (const [i, { status }] of answers.slice(0, 20).entries()) {
        assert.deepEqual(await api.claims(consumers[i]!), status === 204 ? { [provider]: { VCPU: 1 } } : {})
      }
    }
    await api.fsck()
  })

  test('a class or trait is deleted or used, not both', async () => {
    for (let round = 0; round < 10; round++) {
      const name = `CUSTOM_FLEETING_${round}`
      const provider = await api.provider()
      expectStatus(await api.put(`/resource_classes/${name}`), 201)
      expectStatus(await api.put(`/traits/${name}`), 201)
      const inventory = { resource_class: name, total: 1 }
      const traits = { traits: [name], resource_provider_generation: await api.generation(provider) }
      const [deleted, added] = await Promise.all([
        api.del(`/resource_classes/${name}`),
        api.post(`/resource_providers/${provider}/inventories`, inventory),
      ])
      expectStatus(deleted, 204, 409)
      expectStatus(added, deleted.status === 204 ? 400 : 201)
      const [gone, set] = await Promise.all([
        api.del(`/traits/${name}`),
        api.put(`/resource_providers/${provider}/traits`, {
          ...traits,
          resource_provider_generation: await api.generation(provider),
        }),
      ])
      expectStatus(gone, 204, 409)
      expectStatus(set, gone.status === 204 ? 400 : 200)
    }
    await api.fsck()
  })

  test('of many writers with the same provider generation exactly one wins', async () => {
    const provider = await api.provider()
    const path = `/resource_providers/${provider}`
    for (const [what, body] of [
      ['inventories', { inventories: { VCPU: { total: 5 } } }],
      ['traits', { traits: ['HW_CPU_X86_AVX2'] }],
      ['aggregates', { aggregates: [randomUUID()] }],
    ] as const) {
      const generation = await api.generation(provider)
      const answers = await clients(32, () =>
        api.put(`${path}/${what}`, { ...body, resource_provider_generation: generation }),
      )
      for (const answer of answers) {
        if (expectStatus(answer, 200, 409).status === 409) {
          assert.equal(errorCode(answer), 'placement.concurrent_update')
        }
      }
      assert.equal(answers.filter(({ status }) => status === 200).length, 1, what)
      assert.equal(await api.generation(provider), generation + 1)
    }
  })

  test('reshaping back and forth while others claim keeps every claim', async () => {
    const [one, two] = [await api.provider({ VCPU: 1000 }), await api.provider({ DISK_GB: 1000 })]
    const mover = randomUUID()
    expectStatus(await api.claim(mover, { [one]: { VCPU: 3 } }), 204)
    const consumers = Array.from({ length: 16 }, () => randomUUID())
    await clients(20, async index => {
      for (let round = 0; round < 15; round++) {
        if (index < 16) {
          const { consumer_generation: now } = (await api.get(`/allocations/${consumers[index]!}`)).body
          expectStatus(await api.claim(consumers[index]!, { [two]: { DISK_GB: 1 + round } }, now ?? null), 204)
          continue
        }
        const at = await api.get(`/allocations/${mover}`)
        const [from, to] = one in at.body.allocations ? [one, two] : [two, one]
        const kept = (uuid: string) => (uuid === two ? { DISK_GB: { total: 1000 } } : {})
        const answer = await api.post('/reshaper', {
          inventories: {
            [from]: { inventories: kept(from), resource_provider_generation: await api.generation(from) },
            [to]: {
              inventories: { ...kept(to), VCPU: { total: 1000 } },
              resource_provider_generation: await api.generation(to),
            },
          },
          allocations: { [mover]: consumerBody({ [to]: { VCPU: 3 } }, at.body.consumer_generation) },
        })
        if (expectStatus(answer, 204, 409).status === 409) {
          assert.equal(errorCode(answer), 'placement.concurrent_update')
        }
      }
    })
    const mine = await api.claims(mover)
    assert.deepEqual(Object.values(mine), [{ VCPU: 3 }])
    for (const consumer of consumers) assert.deepEqual(await api.claims(consumer), { [two]: { DISK_GB: 15 } })
    await api.fsck()
  })
})
