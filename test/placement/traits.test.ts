// Traits, and the traits of a provider.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorCode, expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'

eachStore('traits', api => {
  const traits = async (query: string): Promise<string[]> => (await api.get(`/traits?${query}`)).body.traits

  test('are found by name, by beginning, and by whether a provider has them', async () => {
    for (const name of ['CUSTOM_ONE', 'CUSTOM_TWO']) expectStatus(await api.put(`/traits/${name}`), 201)
    const provider = await api.provider()
    const body = { traits: ['CUSTOM_ONE', 'HW_CPU_X86_AVX2'], resource_provider_generation: 0 }
    expectStatus(await api.put(`/resource_providers/${provider}/traits`, body), 200)
    assert.deepEqual(await traits('name=startswith:CUSTOM_'), ['CUSTOM_ONE', 'CUSTOM_TWO'])
    assert.deepEqual(await traits('name=in:CUSTOM_TWO,CUSTOM_NONE'), ['CUSTOM_TWO'])
    assert.deepEqual(await traits('associated=TRUE'), ['CUSTOM_ONE', 'HW_CPU_X86_AVX2'])
    assert.deepEqual(await traits('name=startswith:CUSTOM_&associated=false'), ['CUSTOM_TWO'])
    for (const query of ['associated=maybe', 'name=CUSTOM_ONE', 'other=1']) {
      expectStatus(await api.get(`/traits?${query}`), 400)
    }
  })

  test('a % or _ in a beginning means itself', async () => {
    assert.deepEqual(await traits('name=startswith:%25'), [])
    assert.deepEqual(await traits('name=startswith:C_STOM'), [])
  })

  test('are made once and confirmed after, if they are custom', async () => {
    expectStatus(await api.put('/traits/CUSTOM_MADE'), 201)
    expectStatus(await api.put('/traits/CUSTOM_MADE'), 204)
    expectStatus(await api.get('/traits/CUSTOM_MADE'), 204)
    const names = ['HW_CPU_X86_AVX2', 'CUSTOM_', 'custom_x', 'CUSTOM_x', 'CUSTOM_%0A', `CUSTOM_${'A'.repeat(249)}`]
    for (const name of names) expectStatus(await api.put(`/traits/${name}`), 400)
  })

  test('go unless they are standard, unknown or in use', async () => {
    expectStatus(await api.put('/traits/CUSTOM_GONE'), 201)
    const path = `/resource_providers/${await api.provider()}/traits`
    expectStatus(await api.put(path, { traits: ['CUSTOM_GONE'], resource_provider_generation: 0 }), 200)
    expectStatus(await api.del('/traits/CUSTOM_GONE'), 409)
    expectStatus(await api.del(path), 204)
    expectStatus(await api.del('/traits/CUSTOM_GONE'), 204)
    expectStatus(await api.del('/traits/CUSTOM_GONE'), 404)
    expectStatus(await api.del('/traits/HW_CPU_X86_AVX2'), 400)
  })

  test('of a provider raise its generation only when the set changes', async () => {
    const provider = await api.provider()
    const path = `/resource_providers/${provider}/traits`
    const put = (traits: string[], generation: number) =>
      api.put(path, { traits, resource_provider_generation: generation })
    assert.equal(expectStatus(await put(['HW_CPU_X86_AVX2'], 0), 200).body.resource_provider_generation, 1)
    assert.equal(expectStatus(await put(['HW_CPU_X86_AVX2'], 1), 200).body.resource_provider_generation, 1)
    assert.equal(errorCode(expectStatus(await put([], 0), 409)), 'placement.concurrent_update')
    expectStatus(await put(['CUSTOM_NONE'], 1), 400)
    assert.deepEqual((await api.get(path)).body.traits, ['HW_CPU_X86_AVX2'])
    expectStatus(await api.del(path), 204)
    expectStatus(await api.del(path), 204)
    assert.equal(await api.generation(provider), 2)
  })
})
