// The same requests with claims decided on memory and on the rows: the same answers, and the same rows afterwards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClaimRequest } from '../../src/ledger/claims/claim.ts'
import { ClaimQueue } from '../../src/ledger/claims/queue.ts'
import { deleteInventory, setInventories } from '../../src/ledger/inventories.ts'
import { dedicateProvider } from '../../src/ledger/managed.ts'
import { Mirror } from '../../src/ledger/mirror.ts'
import { createProvider } from '../../src/ledger/new-provider.ts'
import { deleteProvider, lockProvider } from '../../src/ledger/providers.ts'
import { createClass, deleteClass, renameResourceClass } from '../../src/ledger/resource-classes.ts'
import { Problem } from '../../src/problems/problem.ts'
import { migrateStore } from '../../src/process/migrate.ts'
import { SqliteStore } from '../../src/store/sqlite.ts'
import type { Write } from '../../src/store/transaction.ts'
import { rounds } from '../support/rounds.ts'
import { chance } from './clients.ts'

const CLASSES = ['VCPU', 'MEMORY_MB', 'CUSTOM_A', 'CUSTOM_B']
const uuid = (kind: string, n: number) => `${kind.repeat(8)}-0000-4000-8000-${String(n).padStart(12, '0')}`

interface World {
  store: SqliteStore
  mirror: Mirror
  queue: ClaimQueue
}

async function newWorld(clock: { now(): number }, isOnMemory: boolean): Promise<World> {
  const store = new SqliteStore(':memory:')
  await migrateStore(store)
  const mirror = new Mirror(store, error => assert.fail(String(error)))
  store.onCommit(({ changes }) => mirror.absorb(changes))
  return { store, mirror, queue: new ClaimQueue(store, clock as never, { onMemory: isOnMemory ? mirror : null }) }
}

const rowsIn = ({ store }: World) =>
  store.script(run =>
    Promise.all([
      run('select id, uuid, generation, revision, dedicated_to, updated_at from providers order by id'),
      run('select * from inventories order by provider_id, class_id'),
      run('select * from consumers order by id'),
      run('select * from claims order by consumer_id, provider_id, class_id'),
    ]),
  )

/** What a copy in memory knows of the providers. */
const known = ({ table }: Mirror) =>
  Array.from({ length: 6 }, (_, n) => table.rowOfUuid(uuid('a', n))).map(row =>
    row < 0 ? null : [table.generation[row], ...CLASSES.map(name => table.column(name)?.usedAt(row))],
  )

async function outcomeOf(doing: Promise<unknown>): Promise<string> {
  try {
    await doing
    return 'done'
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

/** A step for one world, chosen once for both. */
function stepAt(step: number, below: (limit: number) => number, now: number): (world: World) => Promise<unknown> {
  const pick = <T>(some: readonly T[]): T => some[below(some.length)]!
  const writing = (work: () => Write<unknown>) => (world: World) => world.store.write(work)
  const provider = uuid('a', step < 14 ? step % 6 : below(6))
  const name = pick(CLASSES)
  const kind = step < 6 ? 0 : step < 8 ? 1 : step < 14 ? 2 : below(40)
  if (kind === 0) return writing(() => createProvider({ uuid: provider, name: provider, parentUuid: null }, now))
  if (kind === 1) return writing(() => createClass(CLASSES[2 + (step % 2)]!, now))
  if (kind <= 4) {
    const terms = () => ({
      total: pick([1, 4, 10, 100]),
      reserved: pick([0, 0, 1]),
      min_unit: pick([1, 1, 2]),
      max_unit: pick([4, 100, 2 ** 31 - 1]),
      step_size: pick([1, 1, 2]),
      allocation_ratio: pick([1, 2.5, 16, 0.3]),
    })
    const wanted = new Map(CLASSES.filter(() => below(4) > 0).map(one => [one, terms()]))
    return writing(() => setInventories(provider, wanted, null, { mayReserveAll: true }, now))
  }
  if (kind === 5) return writing(() => deleteProvider(provider))
  if (kind === 6) return writing(() => deleteInventory(provider, name, now))
  if (kind === 7) return writing(() => deleteClass(name))
  if (kind === 8) return writing(() => renameResourceClass(name, name === 'CUSTOM_A' ? 'CUSTOM_B' : 'CUSTOM_A', now))
  if (kind === 9) {
    const owner = pick([null, null, 'leases'])
    return writing(function* () {
      yield* dedicateProvider(yield* lockProvider(provider), owner)
    })
  }
  const request = requestOf(below, pick)
  return ({ queue }) => queue.submit(request)
}

function requestOf(below: (limit: number) => number, pick: <T>(some: readonly T[]) => T): ClaimRequest {
  const someone = () => uuid('c', below(40))
  if (below(4) === 0) return { kind: 'release', consumer: someone(), owner: null }
  const amounts = () =>
    new Map(Array.from({ length: 1 + below(2) }, () => [pick(CLASSES), pick([1, 1, 2, 4, 2 ** 31])]))
  const consumers = Array.from(new Set(Array.from({ length: pick([1, 1, 2]) }, someone)), consumer => ({
    consumer,
    projectId: pick(['p', 'q']),
    userId: 'u',
    type: pick(['INSTANCE', undefined]),
    generation: pick([null, null, null, 1, undefined]),
    resources: new Map(Array.from({ length: pick([1, 1, 2, 0]) }, () => [uuid('a', below(6)), amounts()])),
  }))
  return { kind: 'replace', owner: null, consumers }
}

for (let seed = 1; seed <= rounds(4, 60); seed++) {
  test(`claims on memory and on the rows end alike, with seed ${seed}`, async () => {
    const below = chance(seed)
    const clock = { time: 1_000, now: () => clock.time }
    const worlds = [await newWorld(clock, true), await newWorld(clock, false)] as const
    for (let step = 0; step < 200; step++) {
      clock.time += below(3)
      const doing = stepAt(step, below, clock.time)
      const [one, other] = [await outcomeOf(doing(worlds[0])), await outcomeOf(doing(worlds[1]))]
      assert.equal(one, other, `step ${step}`)
      assert.deepEqual(await rowsIn(worlds[0]), await rowsIn(worlds[1]), `step ${step}: ${one}`)
    }
    for (const { store, mirror } of worlds) {
      const fresh = new Mirror(store, error => assert.fail(String(error)))
      await fresh.load()
      assert.deepEqual(known(mirror), known(fresh))
      await store.close()
    }
  })
}
