// Provider trees under many hands: no loop, no torn root, and nothing seems to vanish while it moves.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { expectStatus, type Placement } from '../support/placement.ts'
import { eachRace } from '../support/stores.ts'
import { chance, clients, inParallel } from './clients.ts'

eachRace('provider trees in a race', api => {
  test('re-parenting everything at once never makes a loop', async () => {
    const uuids = await Promise.all(Array.from({ length: 8 }, () => api.provider()))
    const below = chance(3)
    await inParallel(48, 250, async () => {
      const [child, parent] = [uuids[below(8)]!, uuids[below(8)]!]
      // 400: it would have been a loop.
      expectStatus(await move(api, child, below(4) === 0 ? null : parent), 200, 400)
    })
    await expectTrees(api, uuids)
    await api.fsck()
  })

  test('two that take each other as parent: one succeeds, the other would be a loop', async () => {
    for (let round = 0; round < 10; round++) {
      const [one, two] = [await api.provider(), await api.provider()]
      const answers = await Promise.all([move(api, one, two), move(api, two, one)])
      assert.deepEqual(
        answers.map(({ status }) => status).sort((a, b) => a - b),
        [200, 400],
      )
    }
    await api.fsck()
  })

  test('children made under a parent that moves share its root', async () => {
    const [left, right, parent] = [await api.provider(), await api.provider(), await api.provider()]
    const made: string[] = []
    await clients(16, async index => {
      for (let round = 0; round < 8; round++) {
        if (index < 4) expectStatus(await move(api, parent, index % 2 === 0 ? left : right), 200)
        else made.push(await api.provider({}, { parent }))
      }
    })
    const { root_provider_uuid: root } = (await api.get(`/resource_providers/${parent}`)).body
    for (const uuid of made) assert.equal((await api.get(`/resource_providers/${uuid}`)).body.root_provider_uuid, root)
    await api.fsck()
  })

  test('a provider that moves stays there for everyone else', async () => {
    const [left, right] = [await api.provider(), await api.provider()]
    const child = await api.provider({ VCPU: 1000 }, { parent: left })
    await clients(24, async index => {
      for (let round = 0; round < 12; round++) {
        if (index < 6) expectStatus(await move(api, child, index % 2 === 0 ? left : right), 200)
        else if (index < 12) expectStatus(await api.claim(randomUUID(), { [child]: { VCPU: 1 } }), 204)
        else expectStatus(await api.setInventories(child, { VCPU: 1000 + round }), 200, 409)
      }
    })
    assert.deepEqual(await api.usages(child), { VCPU: 6 * 12 })
    await api.fsck()
  })

  test('a parent is deleted or gets a child, not both', async () => {
    for (let round = 0; round < 10; round++) {
      const parent = await api.provider()
      const body = { name: `child-${randomUUID()}`, parent_provider_uuid: parent }
      const [made, deleted] = await Promise.all([
        api.post('/resource_providers', body),
        api.del(`/resource_providers/${parent}`),
      ])
      expectStatus(deleted, 204, 409)
      expectStatus(made, deleted.status === 204 ? 400 : 200)
    }
    await api.fsck()
  })
})

function move(api: Placement, child: string, parent: string | null) {
  return api.put(`/resource_providers/${child}`, { name: `moved-${child}`, parent_provider_uuid: parent })
}

/** Walks up from each provider: it must end at the root that the provider names. */
async function expectTrees(api: Placement, uuids: readonly string[]): Promise<void> {
  for (const uuid of uuids) {
    const { root_provider_uuid: root } = (await api.get(`/resource_providers/${uuid}`)).body
    let at = uuid
    for (let steps = 0; steps <= uuids.length; steps++) {
      const { parent_provider_uuid: parent } = (await api.get(`/resource_providers/${at}`)).body
      if (parent === null) break
      at = parent
    }
    assert.equal(at, root)
  }
}
