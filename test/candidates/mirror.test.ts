// The copy in memory when readings of the database take their time or fail: the newest wins, and trees stay whole.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setProviderAggregates } from '../../src/ledger/aggregates.ts'
import { claimBatch } from '../../src/ledger/claims/batch.ts'
import { setInventories } from '../../src/ledger/inventories.ts'
import { Mirror } from '../../src/ledger/mirror.ts'
import { createProvider } from '../../src/ledger/new-provider.ts'
import { deleteProvider, type Provider, updateProvider } from '../../src/ledger/providers.ts'
import { migrateStore } from '../../src/process/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { eventually } from './questions.ts'

describe('the copy in memory', () => {
  let store: Store
  let mirror: Mirror
  let failures: unknown[]
  /** What a reading waits for once it has seen the database. */
  let gate: Promise<void> | null
  let isAway: boolean

  beforeEach(async () => {
    store = openStore('sqlite::memory:')
    await migrateStore(store)
    gate = null
    isAway = false
    failures = []
    const slow: Store = Object.assign(Object.create(store) as Store, {
      read: async (work: Parameters<Store['read']>[0]) => {
        if (isAway) throw new Error('away')
        const seen = await store.read(work)
        await gate
        return seen
      },
    })
    mirror = new Mirror(slow, error => failures.push(error))
    await mirror.load()
  })
  afterEach(() => store.close())

  const create = (parent: Provider | null = null, now = 1) => {
    const uuid = randomUUID()
    return store.write(() => createProvider({ uuid, name: uuid, parentUuid: parent?.uuid ?? null }, now))
  }
  const move = ({ uuid, name }: Provider, parent: Provider | null) =>
    store.write(() => updateProvider(uuid, { name, parentUuid: parent?.uuid ?? null, mayReparent: true }, 1))
  const treeOf = ({ id }: Provider) => {
    const rows = mirror.table.trees.get(id)?.rows ?? [mirror.table.rowOfId(id)]
    return rows.map(row => mirror.table.uuid[row])
  }

  test('is not set back by a reading of everything that began before a change', async () => {
    const gone = await create()
    await mirror.refresh([gone.id])
    const { promise, resolve: open } = Promise.withResolvers<void>()
    gate = promise
    const loading = mirror.load()
    // The reading has seen the database by now, and is held up on its way.
    await new Promise(setImmediate)
    gate = null
    const added = await create()
    await store.write(() => deleteProvider(gone.uuid))
    const refreshing = mirror.refresh([added.id, gone.id])
    await new Promise(setImmediate)
    open()
    await Promise.all([loading, refreshing])
    assert.ok(mirror.table.rowOfId(added.id) >= 0, 'the new one stays')
    assert.equal(mirror.table.rowOfId(gone.id), -1, 'the deleted one does not come back')
  })

  const usedOf = ({ uuid }: Provider) => mirror.table.column('VCPU')!.usedAt(mirror.table.rowOfUuid(uuid))
  const claim = (provider: Provider, amount: number) => {
    const who = { consumer: randomUUID(), projectId: 'p', userId: 'u', type: 'T', generation: undefined }
    const consumers = [{ ...who, resources: new Map([[provider.uuid, new Map([['VCPU', amount]])]]) }]
    return store.write(() => claimBatch([{ kind: 'replace', consumers, owner: null }], 2))
  }

  test('of a database that has lost changes it shows what is there, and what is committed while it is read', async () => {
    const provider = await create()
    const terms = { total: 20, reserved: 0, min_unit: 1, max_unit: 20, step_size: 1, allocation_ratio: 1 }
    await store.write(() => setInventories(provider.uuid, new Map([['VCPU', terms]]), 0, { mayReserveAll: true }, 1))
    await claim(provider, 2)
    await mirror.refresh([provider.id])
    // Known here, and lost by the database. Its next commits come to revisions that were known already.
    const revision = mirror.revisionOf(provider.id)! + 9
    void mirror.absorb([{ provider: provider.id, revision, generation: 9, uses: [['VCPU', 11]] }])
    assert.equal(usedOf(provider), 11)
    const { promise, resolve: open } = Promise.withResolvers<void>()
    gate = promise
    const loading = mirror.load(true)
    await new Promise(setImmediate)
    gate = null
    const absorbed: unknown[] = []
    const stop = store.onCommit(({ changes }) => void absorbed.push(mirror.absorb(changes)))
    await claim(provider, 3)
    open()
    await Promise.all([loading, ...absorbed])
    assert.equal(usedOf(provider), 5)
    await claim(provider, 4)
    await Promise.all(absorbed)
    assert.equal(usedOf(provider), 9)
    stop()
  })

  const aggregatesOf = ({ id }: Provider) =>
    JSON.parse(mirror.table.aggregateSet[mirror.table.rowOfId(id)]!.json) as string[]

  test('takes a new provider and its parts without a reading, and reads where it lacks a change between', async () => {
    isAway = true
    let absorbed: Promise<void> | undefined
    let isHeard = true
    const stop = store.onCommit(({ changes }) => {
      if (isHeard) absorbed = mirror.absorb(changes) ?? undefined
    })
    const provider = await create()
    const set = (aggregates: string[], generation: number) =>
      store.write(() => setProviderAggregates(provider.uuid, aggregates, generation, 1))
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()]
    await set([first], 0)
    assert.deepEqual([absorbed, aggregatesOf(provider)], [undefined, [first]])
    isHeard = false
    await set([first, second], 1)
    isHeard = true
    isAway = false
    await set([third], 2)
    assert.notEqual(absorbed, undefined, 'it is read again')
    await absorbed
    assert.deepEqual(aggregatesOf(provider), [third])
    stop()
  })

  test('follows a provider that has the id of one that went in the same commit', async () => {
    const stop = store.onCommit(({ changes }) => mirror.absorb(changes))
    const gone = await create()
    for (let i = 0; i < 9; i++) await store.write(() => setProviderAggregates(gone.uuid, [randomUUID()], i, 1))
    const [, { id, uuid }] = await Promise.all([store.write(() => deleteProvider(gone.uuid)), create(null, 2)])
    assert.equal(id, gone.id)
    const terms = { total: 4, reserved: 0, min_unit: 1, max_unit: 4, step_size: 1, allocation_ratio: 1 }
    await store.write(() => setInventories(uuid, new Map([['VCPU', terms]]), 0, { mayReserveAll: true }, 2))
    const who = { consumer: randomUUID(), projectId: 'p', userId: 'u', type: 'T', generation: undefined }
    const consumers = [{ ...who, resources: new Map([[uuid, new Map([['VCPU', 3]])]]) }]
    await store.write(() => claimBatch([{ kind: 'replace', consumers, owner: null }], 2))
    const row = mirror.table.rowOfUuid(uuid)
    assert.deepEqual([mirror.table.generation[row], mirror.table.column('VCPU')!.usedAt(row)], [2, 3])
    stop()
  })

  test('is not set back by a reading that began before its own change', async () => {
    const provider = await create()
    await mirror.refresh([provider.id])
    const { promise, resolve: open } = Promise.withResolvers<void>()
    gate = promise
    const reading = mirror.refresh([provider.id])
    await new Promise(setImmediate)
    gate = null
    const aggregate = randomUUID()
    const stop = store.onCommit(({ changes }) => void mirror.absorb(changes))
    await store.write(() => setProviderAggregates(provider.uuid, [aggregate], 0, 1))
    open()
    await reading
    await mirror.refresh([])
    assert.deepEqual(aggregatesOf(provider), [aggregate])
    stop()
  })

  test('never holds half of a subtree that moved, whichever of its providers it is told of', async () => {
    const [left, right, top] = [await create(), await create(), await create()]
    const inner = await create(top)
    const leaf = await create(inner)
    await mirror.refresh([left.id, right.id, top.id, inner.id, leaf.id])
    for (const told of [top, inner, leaf]) {
      for (const [to, other] of [
        [left, right],
        [right, left],
      ] as const) {
        await move(top, to)
        await mirror.refresh([told.id])
        assert.deepEqual(
          treeOf(to),
          [to, top, inner, leaf].map(provider => provider.uuid),
        )
        assert.deepEqual(treeOf(other), [other.uuid])
      }
      await move(top, null)
      await mirror.refresh([told.id])
      assert.deepEqual(treeOf(top), [top.uuid, inner.uuid, leaf.uuid])
    }
  })

  test('finds the ancestors of a new child by itself', async () => {
    const root = await create()
    const parent = await create(root)
    const child = await create(parent)
    await mirror.refresh([child.id])
    assert.deepEqual(treeOf(root), [root.uuid, parent.uuid, child.uuid])
  })

  test('keeps the children of a provider that was deleted after they had left it', async () => {
    const [root, parent] = [await create(), await create()]
    const child = await create(parent)
    await mirror.refresh([root.id, parent.id, child.id])
    await move(child, root)
    await store.write(() => deleteProvider(parent.uuid))
    await mirror.refresh([parent.id])
    assert.deepEqual(treeOf(root), [root.uuid, child.uuid])
    assert.equal(mirror.table.rowOfId(parent.id), -1)
  })

  test('catches up by itself when the database is back', async () => {
    const provider = await create()
    isAway = true
    await mirror.refresh([provider.id])
    assert.equal(failures.length, 1)
    assert.equal(mirror.table.rowOfId(provider.id), -1)
    isAway = false
    await eventually(
      async () => mirror.table.rowOfId(provider.id),
      row => row >= 0,
    )
  })
})
