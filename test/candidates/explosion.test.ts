// Questions built to explode: they are answered or bounded, and meanwhile everyone else is served.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { isLong } from '../support/rounds.ts'
import { eachStore } from '../support/stores.ts'
import { inParallel } from '../races/clients.ts'
import { type AllocationRequest, candidates, newClass } from './questions.ts'

const CHILDREN = 40
const GROUPS = 20

eachStore('a question built to explode', (api, kind) => {
  let name = ''
  /** Children with room for 3 each, half of them with two children of their own. */
  before(async () => {
    name = await newClass(api)
    const root = await api.provider()
    await inParallel(8, CHILDREN, async index => {
      const child = await api.provider({ [name]: 3 }, { parent: root })
      if (index % 2 === 0) for (let below = 0; below < 2; below++) await api.provider({ [name]: 1 }, { parent: child })
    })
  })

  const groups = (count: number, amountOf: (index: number) => number) =>
    Array.from({ length: count }, (_, index) => `resources_${index}=${name}:${amountOf(index)}`).join('&')
  const subtrees = Array.from({ length: GROUPS / 2 }, (_, i) => `same_subtree=_${2 * i},_${2 * i + 1}`).join('&')

  /** Asks, and counts what else is answered meanwhile. */
  async function askBeside(query: string, version?: string) {
    const state = { running: true }
    const asked = candidates(api, query, version).finally(() => (state.running = false))
    let others = 0
    for (; state.running && others < 100_000; others++) expectStatus(await api.get('/'), 200)
    return { ...(await asked), others }
  }

  const expectFits = ({ allocations, mappings }: AllocationRequest, policy: string) => {
    const amounts = Object.values(allocations).map(({ resources }) => resources[name]!)
    assert.ok(amounts.every(amount => amount <= 3))
    assert.equal(Object.keys(mappings!).length, GROUPS)
    if (policy === 'isolate') assert.equal(Object.keys(allocations).length, GROUPS)
  }

  test('with far more answers than asked for is answered', async () => {
    for (const policy of ['none', 'isolate']) {
      const query = `${groups(GROUPS, () => 1)}&group_policy=${policy}&limit=500`
      const { requests, complete } = await askBeside(query)
      assert.ok(complete)
      assert.equal(requests.length, 500)
      assert.equal(new Set(requests.map(request => JSON.stringify(request))).size, 500, 'no candidate twice')
      for (const request of requests) expectFits(request, policy)
    }
  })

  test('that has no answer is found out or bounded', async () => {
    // No two of the 50 groups fit on one of the 40 children.
    const { requests } = await askBeside(`${groups(50, index => (index % 2) + 2)}&group_policy=none&limit=10`)
    assert.deepEqual(requests, [])
  })

  // The search knows no store, so what takes seconds is tried on one; in the long run on both.
  if (kind === 'postgres' && !isLong) return

  test('with pairs that must share a subtree is answered or bounded', async () => {
    const query = `${groups(GROUPS, index => 1 + (index % 2) * 2)}&${subtrees}&group_policy=isolate&limit=10`
    const { requests, complete } = await askBeside(query)
    assert.ok(requests.length > 0 || !complete)
    for (const request of requests) expectFits(request, 'isolate')
  })

  // At 1.33, where an answer without mappings is half as long.
  test('without a limit is bounded, says so, and others are served while it runs', async () => {
    const { requests, complete, others } = await askBeside(`${groups(GROUPS, () => 1)}&group_policy=isolate`, '1.33')
    assert.equal(complete, false)
    assert.ok(requests.length > 0)
    assert.ok(others > 1, `${others} others were answered meanwhile`)
  })
})
