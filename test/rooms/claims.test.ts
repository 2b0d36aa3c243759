// Claims at the moment in which those of others end, and what is read of claims afterwards.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { claimBatch } from '../../src/ledger/claims/batch.ts'
import type { ClaimRequest } from '../../src/ledger/claims/claim.ts'
import { consumerClaims, fewProviderClaims, providerClaims } from '../../src/ledger/claims/find.ts'
import { ENDING, expireConsumer } from '../../src/ledger/claims/lapsed.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { Rows } from '../support/rows.ts'
import { eachDatabase } from '../support/stores.ts'

const NOW = 1_000_000_000

eachDatabase(
  'claims, row by row,',
  databases => {
    let store: Store
    let rows: Rows
    const classes = new Map<string, number>()
    before(async () => {
      store = openStore(await databases.create())
      rows = new Rows(store)
      for (const name of ['CUSTOM_B', 'CUSTOM_A']) {
        classes.set(name, await rows.put('resource_classes', { name, created_at: NOW }))
      }
    })
    after(() => store.close())

    const provider = async (total = 4) => {
      const uuid = crypto.randomUUID()
      const id = await rows.put('providers', { uuid, name: uuid })
      const amounts = { min_unit: 1, max_unit: 99, step_size: 1, allocation_ratio: 1 }
      for (const class_id of classes.values()) {
        await rows.put('inventories', { provider_id: id, class_id, total, capacity: total, ceiling: total, ...amounts })
      }
      return uuid
    }
    const wish = (
      of: string,
      amounts: Record<string, number>,
      consumer = crypto.randomUUID() as string,
      type = 'T',
    ): ClaimRequest => ({
      kind: 'replace',
      owner: null,
      consumers: [
        {
          consumer,
          projectId: 'p',
          userId: 'u',
          type,
          generation: null,
          resources: new Map([[of, new Map(Object.entries(amounts))]]),
        },
      ],
    })
    const idOf = (request: ClaimRequest) =>
      request.kind === 'replace' ? request.consumers[0]!.consumer : request.consumer
    const claim = async (requests: ClaimRequest[], now = NOW) =>
      (await store.write(() => claimBatch(requests, now))).map(verdict => verdict?.kind ?? null)
    const read = async (uuid: string) => (await store.read(() => providerClaims(uuid))).claims
    const number = async (column: string, uuid: string) => {
      const [row] = await store.script(run => run(`select ${column} as n from providers where uuid = '${uuid}'`))
      return (row as { n: number }).n
    }

    void test('a claim whose time is over makes room for the next, and not a moment before', async () => {
      const place = await provider()
      const old = wish(place, { CUSTOM_A: 3 }, crypto.randomUUID(), ENDING)
      assert.deepEqual(await claim([old]), [null])
      await store.write(() => expireConsumer(idOf(old), NOW + 10))
      assert.deepEqual(await claim([wish(place, { CUSTOM_A: 2 })], NOW + 9), ['claim_exceeds_capacity'])
      // What fits leaves it alone, though it is over.
      assert.deepEqual(await claim([wish(place, { CUSTOM_A: 1 })], NOW + 10), [null])
      assert.equal((await read(place)).length, 2)
      assert.deepEqual(await claim([wish(place, { CUSTOM_A: 5 })], NOW + 10), ['claim_exceeds_capacity'])
      const next = wish(place, { CUSTOM_A: 3 })
      assert.deepEqual(await claim([next], NOW + 10), [null])
      assert.deepEqual(
        (await read(place)).map(({ used }) => used).toSorted((a, b) => a - b),
        [1, 3],
      )
      assert.deepEqual(await store.read(() => consumerClaims(idOf(old))), [])
    })

    void test('of requests that go together each is decided after those before it', async () => {
      const place = await provider()
      const [one, two, three] = [
        wish(place, { CUSTOM_A: 3 }),
        wish(place, { CUSTOM_A: 2 }),
        wish(place, { CUSTOM_A: 1 }),
      ]
      assert.deepEqual(await claim([one, two, three]), [null, 'claim_exceeds_capacity', null])
      assert.deepEqual(await claim([{ kind: 'release', consumer: idOf(one), owner: null }, two]), [null, null])
      assert.deepEqual(await store.read(() => consumerClaims(idOf(one))), [])
    })

    void test('clients see a new generation when a provider gets a claim, and followers see each change', async () => {
      const [place, other] = [await provider(), await provider()]
      const request = wish(place, { CUSTOM_A: 1 })
      await claim([request])
      assert.deepEqual([await number('generation', place), await number('revision', place)], [1, 1])
      assert.deepEqual([await number('generation', other), await number('revision', other)], [0, 0])
      await claim([{ kind: 'release', consumer: idOf(request), owner: null }])
      assert.deepEqual([await number('generation', place), await number('revision', place)], [1, 2])
      await claim([wish(place, { CUSTOM_A: 9 })])
      assert.deepEqual([await number('generation', place), await number('revision', place)], [1, 2])
    })

    void test('what is read of claims is in order, with whose they are, and counted as far as it matters', async () => {
      const [one, two] = [await provider(), await provider()]
      const consumer = crypto.randomUUID()
      const request = wish(two, { CUSTOM_A: 1, CUSTOM_B: 2 }, consumer)
      if (request.kind === 'replace')
        (request.consumers[0]!.resources as Map<string, Map<string, number>>).set(one, new Map([['CUSTOM_A', 4]]))
      assert.deepEqual(await claim([request]), [null])
      const found = await store.read(() => consumerClaims(consumer))
      assert.deepEqual(
        found.map(({ provider: at, resource_class: name, used, project_id: project, type }) => [
          at,
          name,
          used,
          project,
          type,
        ]),
        [
          [one, 'CUSTOM_A', 4, 'p', 'T'],
          [two, 'CUSTOM_B', 2, 'p', 'T'],
          [two, 'CUSTOM_A', 1, 'p', 'T'],
        ],
      )
      assert.deepEqual(await store.read(() => consumerClaims(crypto.randomUUID())), [])
      assert.equal(await store.read(() => fewProviderClaims(two, 1)), null)
      assert.equal((await store.read(() => fewProviderClaims(two, 2)))?.claims.length, 2)
      assert.equal((await store.read(() => fewProviderClaims(one, 1)))?.claims.length, 1)
      await assert.rejects(() => store.read(() => fewProviderClaims(crypto.randomUUID(), 1)), /No resource provider/)
    })
  },
  ['sqlite'],
)
