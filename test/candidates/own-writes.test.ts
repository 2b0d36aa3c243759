// Whoever writes and then asks the same process finds what was written counted, whatever kind of write it was.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { consumerBody, expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'
import {
  candidates,
  expectFound,
  move,
  newClass,
  newTrait,
  providersIn,
  setAggregates,
  setTraits,
} from './questions.ts'

const ROUNDS = 4

eachStore('the next question after a write', api => {
  test('knows a claim and its release', async () => {
    const name = await newClass(api)
    const query = `resources=${name}:3`
    const provider = await api.provider({ [name]: 4 })
    for (let round = 0; round < ROUNDS; round++) {
      const consumer = randomUUID()
      await expectFound(api, query, provider)
      expectStatus(await api.claim(consumer, { [provider]: { [name]: 2 } }), 204)
      await expectFound(api, query)
      expectStatus(await api.del(`/allocations/${consumer}`), 204)
    }
    await expectFound(api, query, provider)
  })

  test('knows that a consumer has moved', async () => {
    const name = await newClass(api)
    const [left, right] = [await api.provider({ [name]: 1 }), await api.provider({ [name]: 1 })]
    const consumer = randomUUID()
    for (let round = 0; round < ROUNDS; round++) {
      const [to, free] = round % 2 === 0 ? [left, right] : [right, left]
      expectStatus(await api.claim(consumer, { [to]: { [name]: 1 } }, round === 0 ? null : round), 204)
      await expectFound(api, `resources=${name}:1`, free)
    }
  })

  test('knows all of a POST of many', async () => {
    const name = await newClass(api)
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => api.provider({ [name]: 1 })))
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()]
    expectStatus(await api.claim(third, { [three!]: { [name]: 1 } }), 204)
    await expectFound(api, `resources=${name}:1`, one!, two!)
    const bodies = {
      [first]: consumerBody({ [one!]: { [name]: 1 } }),
      [second]: consumerBody({ [two!]: { [name]: 1 } }),
      [third]: consumerBody({}, 1),
    }
    expectStatus(await api.post('/allocations', bodies), 204)
    await expectFound(api, `resources=${name}:1`, three!)
  })

  test('shows the new use and generation in the summaries', async () => {
    const name = await newClass(api)
    const provider = await api.provider({ [name]: 100 })
    for (let claims = 1; claims <= 10; claims++) {
      expectStatus(await api.claim(randomUUID(), { [provider]: { [name]: 2 } }), 204)
      const { summaries } = await candidates(api, `resources=${name}:1`)
      assert.deepEqual(summaries[provider]!.resources, { [name]: { capacity: 100, used: 2 * claims } })
    }
  })

  test('knows an inventory that was set, changed, added and deleted', async () => {
    const name = await newClass(api)
    const query = `resources=${name}:5`
    const provider = await api.provider({ VCPU: 1 })
    const path = `/resource_providers/${provider}/inventories`
    await expectFound(api, query)
    expectStatus(await api.setInventories(provider, { [name]: 5 }), 200)
    await expectFound(api, query, provider)
    const terms = { total: 5, reserved: 1, resource_provider_generation: await api.generation(provider) }
    expectStatus(await api.put(`${path}/${name}`, terms), 200)
    await expectFound(api, query)
    expectStatus(await api.del(`${path}/${name}`), 204)
    expectStatus(await api.post(path, { resource_class: name, total: 6 }), 201)
    await expectFound(api, query, provider)
    for (const bound of [{ max_unit: 4 }, { min_unit: 6 }, { step_size: 3 }, { allocation_ratio: 0.5 }]) {
      expectStatus(await api.setInventories(provider, { [name]: { total: 6, ...bound } }), 200)
      await expectFound(api, query)
      expectStatus(await api.setInventories(provider, { [name]: 6 }), 200)
      await expectFound(api, query, provider)
    }
    expectStatus(await api.del(path), 204)
    await expectFound(api, query)
  })

  test('knows traits', async () => {
    const [name, trait] = [await newClass(api), await newTrait(api)]
    const provider = await api.provider({ [name]: 1 })
    const [wanted, unwanted] = [`resources=${name}:1&required=${trait}`, `resources=${name}:1&required=!${trait}`]
    for (let round = 0; round < ROUNDS; round++) {
      await expectFound(api, wanted)
      await expectFound(api, unwanted, provider)
      await setTraits(api, provider, trait)
      await expectFound(api, wanted, provider)
      await expectFound(api, unwanted)
      if (round % 2 === 0) await setTraits(api, provider)
      else expectStatus(await api.del(`/resource_providers/${provider}/traits`), 204)
    }
  })

  test('knows aggregates, with and without a generation', async () => {
    const name = await newClass(api)
    const [one, two] = [randomUUID(), randomUUID()]
    const provider = await api.provider({ [name]: 1 })
    const inOne = `resources=${name}:1&member_of=${one}`
    const notInTwo = `resources=${name}:1&member_of=!${two}`
    for (let round = 0; round < ROUNDS; round++) {
      const oldForm = (...aggregates: string[]) =>
        api.put(`/resource_providers/${provider}/aggregates`, aggregates, { version: '1.1' })
      expectStatus(await oldForm(one), 200)
      await expectFound(api, inOne, provider)
      await expectFound(api, notInTwo, provider)
      await setAggregates(api, provider, two)
      await expectFound(api, inOne)
      await expectFound(api, notInTwo)
      if (round % 2 === 0) await setAggregates(api, provider, one)
      else expectStatus(await oldForm(), 200)
      await expectFound(api, notInTwo, provider)
    }
  })

  test('knows a sharing provider as soon as it shares', async () => {
    const [cpu, disk] = [await newClass(api), await newClass(api)]
    const aggregate = randomUUID()
    const [host, pool] = [await api.provider({ [cpu]: 1 }), await api.provider({ [disk]: 1 })]
    const asked = async () => providersIn(await candidates(api, `resources=${cpu}:1,${disk}:1`))
    await setAggregates(api, host, aggregate)
    await setAggregates(api, pool, aggregate)
    assert.deepEqual(await asked(), [])
    await setTraits(api, pool, 'MISC_SHARES_VIA_AGGREGATE')
    assert.deepEqual(await asked(), [host, pool].sort())
    await setAggregates(api, host)
    assert.deepEqual(await asked(), [])
  })

  test('knows new providers, moved ones and deleted ones', async () => {
    const name = await newClass(api)
    const [left, right] = [await api.provider({ [name]: 1 }), await api.provider({ [name]: 1 })]
    const members = async (root: string) =>
      Object.keys((await candidates(api, `resources=${name}:1&in_tree=${root}`)).summaries).sort()
    for (let round = 0; round < ROUNDS; round++) {
      const child = await api.provider({}, { parent: left })
      assert.deepEqual(await members(left), [left, child].sort())
      const grandchild = await api.provider({ [name]: 7 }, { parent: child })
      assert.deepEqual(await members(left), [left, child, grandchild].sort())
      await expectFound(api, `resources=${name}:7`, grandchild)
      expectStatus(await move(api, child, right), 200)
      assert.deepEqual(await members(left), [left])
      assert.deepEqual(await members(right), [right, child, grandchild].sort())
      await expectFound(api, `resources=${name}:7&in_tree=${left}`)
      await expectFound(api, `resources=${name}:7&in_tree=${right}`, grandchild)
      expectStatus(await move(api, child, null), 200)
      assert.deepEqual(await members(child), [child, grandchild].sort())
      expectStatus(await api.del(`/resource_providers/${grandchild}`), 204)
      await expectFound(api, `resources=${name}:7`)
      expectStatus(await api.del(`/resource_providers/${child}`), 204)
      assert.deepEqual(await members(right), [right])
    }
  })

  test('knows a reshape', async () => {
    const name = await newClass(api)
    const root = await api.provider({ [name]: 10 })
    const child = await api.provider({}, { parent: root })
    const consumer = randomUUID()
    expectStatus(await api.claim(consumer, { [root]: { [name]: 4 } }), 204)
    await expectFound(api, `resources=${name}:6`, root)
    const body = {
      inventories: {
        [root]: { inventories: {}, resource_provider_generation: await api.generation(root) },
        [child]: {
          inventories: { [name]: { total: 11 } },
          resource_provider_generation: await api.generation(child),
        },
      },
      allocations: { [consumer]: consumerBody({ [child]: { [name]: 4 } }, 1) },
    }
    expectStatus(await api.post('/reshaper', body), 204)
    await expectFound(api, `resources=${name}:7`, child)
    await expectFound(api, `resources=${name}:8`)
    const { summaries } = await candidates(api, `resources=${name}:1`)
    assert.deepEqual(summaries[root]!.resources, {})
    assert.deepEqual(summaries[child]!.resources, { [name]: { capacity: 11, used: 4 } })
  })

  test('knows a class by its new name', async () => {
    const name = await newClass(api)
    const provider = await api.provider({ [name]: 1 })
    const renamed = `${name}_RENAMED`
    expectStatus(await api.put(`/resource_classes/${name}`, { name: renamed }, { version: '1.2' }), 200)
    await expectFound(api, `resources=${renamed}:1`, provider)
    const { summaries } = await candidates(api, `resources=${renamed}:1`)
    assert.deepEqual(Object.keys(summaries[provider]!.resources), [renamed])
  })

  test('knows nothing of a write that was refused', async () => {
    const name = await newClass(api)
    const [full, free] = [await api.provider({ [name]: 1 }), await api.provider({ [name]: 2 })]
    const claims = { [full]: { [name]: 1 } }
    expectStatus(await api.claim(randomUUID(), claims), 204)
    const bodies = {
      [randomUUID()]: consumerBody({ [free]: { [name]: 2 } }),
      [randomUUID()]: consumerBody(claims),
    }
    expectStatus(await api.post('/allocations', bodies), 409)
    await expectFound(api, `resources=${name}:2`, free)
    expectStatus(await api.del(`/resource_providers/${full}`), 409)
    await expectFound(api, `resources=${name}:1`, free)
    assert.equal((await candidates(api, `resources=${name}:1&in_tree=${full}`)).requests.length, 0)
  })
})
