// Explain over HTTP: what it proposes does give candidates, its refusals are the operator's, and only admins may ask.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { Client } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'
import { candidates, newClass, newTrait, setAggregates, setTraits } from './questions.ts'

const PATH = '/holdfast/v1/explain/allocation_candidates'

interface Explanation {
  query: string
  roots: number
  groups: { suffix: string }[]
  relaxations: { sentence: string; roots: number; query: string }[]
  complete: boolean
}

eachStore('explain', api => {
  const operator = new Client('')
  const names = { CPU: '', DISK: '', GPU: '', GOLD: '', SILVER: '', RED: randomUUID(), BLUE: randomUUID(), LONER: '' }
  const filled = (query: string) => query.replace(/[A-Z]{3,}/g, word => names[word as keyof typeof names] ?? word)
  const explain = async (query: string): Promise<Explanation> =>
    expectStatus(await operator.get(`${PATH}?${query}`), 200).body

  /** Hosts with disk and two children with processors, the first of which is gold and has an accelerator below it. */
  before(async () => {
    operator.origins = api.origins
    for (const name of ['CPU', 'DISK', 'GPU'] as const) names[name] = await newClass(api)
    for (const name of ['GOLD', 'SILVER'] as const) names[name] = await newTrait(api)
    for (let host = 0; host < 4; host++) {
      const root = await api.provider({ [names.DISK]: 100 })
      await setAggregates(api, root, host < 2 ? names.RED : names.BLUE)
      if (host === 3) await setTraits(api, root, names.SILVER)
      const first = await api.provider({ [names.CPU]: { total: 8 + host, max_unit: 6 } }, { parent: root })
      await setTraits(api, first, names.GOLD)
      await api.provider({ [names.CPU]: 4 }, { parent: root })
      await api.provider({ [names.GPU]: 1 }, { parent: first })
    }
    names.LONER = await api.provider({ [names.DISK]: 10 })
  })

  const FAILING = [
    'resources=CPU:7',
    'resources=CPU:5&required=!GOLD',
    'resources=DISK:101',
    'resources=DISK:1&required=SILVER&member_of=RED',
    'resources=DISK:1,CPU:1&in_tree=LONER',
    'resources=DISK:1,CPU:9&member_of=BLUE',
    'resources=DISK:50&root_required=SILVER&member_of=RED',
    'resources=CPU:1&root_required=GOLD',
    'resources1=CPU:1&required1=GOLD,SILVER',
    'resources1=CPU:5&required1=GOLD&resources2=CPU:1&required2=GOLD&group_policy=isolate',
    'resources1=CPU:6&resources2=CPU:6&group_policy=none',
    'resources1=CPU:1&required1=!GOLD&resources2=GPU:1&group_policy=none&same_subtree=1,2',
    'resources1=CPU:1&resources2=GPU:2&required2=GOLD&group_policy=none',
    'resources1=DISK:500&in_tree1=LONER&resources2=CPU:1&group_policy=none',
    'resources=DISK:1&required=in:GOLD,SILVER&member_of=RED&root_required=!SILVER',
    'resources=DISK:200&required=SILVER&member_of=RED&limit=5',
  ]

  for (const failing of FAILING) {
    test(`${failing}: each proposal gives candidates`, async () => {
      const query = filled(failing)
      assert.equal((await candidates(api, query)).requests.length, 0)
      const { relaxations, complete, groups } = await explain(query)
      assert.ok(complete)
      assert.ok(groups.length > 0)
      assert.ok(relaxations.length > 0, 'something can always be left out')
      for (const relaxation of relaxations) {
        const { requests, summaries } = await candidates(api, relaxation.query)
        assert.ok(requests.length > 0, `${relaxation.sentence}: ${relaxation.query}`)
        const roots = new Set(Object.values(summaries).map(summary => summary.root_provider_uuid))
        if (!relaxation.query.includes('limit')) assert.equal(relaxation.roots, roots.size, relaxation.sentence)
      }
    })
  }

  test('of a question that has candidates repeats the question and proposes nothing', async () => {
    const query = filled('resources=DISK:1,CPU:2&required=GOLD&member_of=RED')
    const explained = await explain(query)
    assert.equal(explained.query, query)
    assert.deepEqual(explained.relaxations, [])
  })

  test('proposes nothing rather than something that would not do', async () => {
    const { relaxations, complete } = await explain(`resources=${await newClass(api)}:1`)
    assert.deepEqual([relaxations, complete], [[], true])
  })

  test('proposes to do without a whole group where nothing less would do', async () => {
    const { relaxations } = await explain(filled('resources1=GPU:1&resources2=GPU:1&group_policy=isolate'))
    const sentences: string[] = relaxations.map(({ sentence }: { sentence: string }) => sentence)
    assert.deepEqual(sentences, ['without group 1: 4 roots', 'without group 2: 4 roots'])
  })

  test('follows what was written a moment ago', async () => {
    const name = await newClass(api)
    const provider = await api.provider({ [name]: 5 })
    const largest = async () => (await explain(`resources=${name}:9`)).relaxations.map(({ query }) => query)
    assert.ok((await largest()).includes(`resources=${name}:5`))
    expectStatus(await api.claim(randomUUID(), { [provider]: { [name]: 2 } }), 204)
    assert.ok((await largest()).includes(`resources=${name}:3`))
  })

  test('refuses in the operator’s form', async () => {
    for (const [query, kind] of [
      ['resources=x', 'invalid_query'],
      ['', 'query_missing_value'],
      ['resources=VCPU:1&foo=1', 'invalid_query'],
      ['resources=CUSTOM_NOPE:1', 'class_unknown'],
      ['resources=VCPU:1&required=CUSTOM_NOPE', 'traits_unknown'],
      ['resources1=VCPU:1&same_subtree=2', 'query_bad_value'],
      ['resources=VCPU:1&root_required=HW_CPU_X86_AVX2&root_required=HW_CPU_X86_AVX2', 'query_duplicate_key'],
    ] as const) {
      const { body, headers } = expectStatus(await operator.get(`${PATH}?${query}`), 400)
      assert.deepEqual(Object.keys(body), ['error'])
      assert.equal(body.error.kind, kind, query)
      assert.ok(body.error.message.length > 0)
      assert.ok(body.error.request_id.length > 0)
      assert.match(String(headers['content-type']), /json/)
    }
  })

  test('is for admins', async () => {
    const path = `${PATH}?resources=VCPU:1`
    const none = expectStatus(await operator.get(path, { token: null }), 401)
    assert.equal(none.body.error.kind, 'unauthorized')
    const other = expectStatus(await operator.get(path, { token: 'someone' }), 403)
    assert.equal(other.body.error.kind, 'forbidden')
    expectStatus(await operator.get(path, { token: 'someone', headers: { 'x-roles': 'admin' } }), 200)
  })
})
