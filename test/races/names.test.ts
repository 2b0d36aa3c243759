// Many clients making the same thing: one makes it, the others are told that it is there.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Answer } from '../support/client.ts'
import { errorCode, expectStatus } from '../support/placement.ts'
import { eachRace } from '../support/stores.ts'
import { clients } from './clients.ts'

const ROUNDS = 5
const CROWD = 32

eachRace('creators of the same', api => {
  test('provider name: one 200, the rest 409', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const name = `same-name-${round}`
      const answers = await clients(CROWD, () => api.post('/resource_providers', { name }))
      oneOf(answers, { made: 200, told: 409, code: 'placement.duplicate_name' })
    }
  })

  test('provider uuid: one 200, the rest 409', async () => {
    const uuid = randomUUID()
    const answers = await clients(CROWD, index => api.post('/resource_providers', { name: `twin-${index}`, uuid }))
    oneOf(answers, { made: 200, told: 409, code: 'placement.duplicate_name' })
  })

  test('new name for different providers: one 200, the rest 409', async () => {
    const uuids = await Promise.all(Array.from({ length: 8 }, () => api.provider()))
    const answers = await clients(8, i => api.put(`/resource_providers/${uuids[i]}`, { name: 'the-one' }))
    oneOf(answers, { made: 200, told: 409, code: 'placement.duplicate_name' })
  })

  test('resource class by POST: one 201, the rest 409', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const name = `CUSTOM_SAME_${round}`
      oneOf(await clients(CROWD, () => api.post('/resource_classes', { name })), { made: 201, told: 409 })
    }
  })

  test('resource class by PUT: one 201, the rest 204', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await clients(CROWD, () => api.put(`/resource_classes/CUSTOM_PUT_${round}`))
      oneOf(answers, { made: 201, told: 204 })
    }
  })

  test('trait: one 201, the rest 204', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await clients(CROWD, () => api.put(`/traits/CUSTOM_TRAIT_${round}`))
      oneOf(answers, { made: 201, told: 204 })
    }
  })

  test('inventory: one 201, the rest 409', async () => {
    const provider = await api.provider()
    const body = { resource_class: 'VCPU', total: 4, resource_provider_generation: 0 }
    const answers = await clients(CROWD, () => api.post(`/resource_providers/${provider}/inventories`, body))
    oneOf(answers, { made: 201, told: 409, code: 'placement.concurrent_update' })
    await api.fsck()
  })

  test('consumer: one 204, the rest 409', async () => {
    const provider = await api.provider({ VCPU: 100 })
    for (let round = 0; round < ROUNDS; round++) {
      const consumer = randomUUID()
      const answers = await clients(CROWD, () => api.claim(consumer, { [provider]: { VCPU: 1 } }))
      oneOf(answers, { made: 204, told: 409, code: 'placement.concurrent_update' })
    }
    assert.deepEqual(await api.usages(provider), { VCPU: ROUNDS })
    await api.fsck()
  })
})

function oneOf(answers: readonly Answer[], expected: { made: number; told: number; code?: string }): void {
  for (const answer of answers) expectStatus(answer, expected.made, expected.told)
  assert.equal(answers.filter(({ status }) => status === expected.made).length, 1)
  for (const answer of answers.filter(({ status }) => status === expected.told)) {
    if (expected.code) assert.equal(errorCode(answer), expected.code)
  }
}
