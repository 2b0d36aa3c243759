// What the log costs an entry, by how many entries there are: to write it, give it its place, seal it, read it as a
// listener, check its seal, and drop it. Nothing of this may grow with the log.
import { type Entry, rowOf } from '../src/audit/entry.ts'
import { checkAudit } from '../src/audit/fsck.ts'
import { auditParts, listAudit } from '../src/audit/list.ts'
import { pageFrom } from '../src/audit/order.ts'
import { pruneSealed, sealNext } from '../src/audit/seals.ts'
import { limits } from '../src/shared/limits.ts'
import { Feed } from '../src/store/feed.ts'
import { migrate } from '../src/store/migrate.ts'
import { openStore } from '../src/store/open.ts'
import { PostgresStore } from '../src/store/postgres.ts'
import type { Store } from '../src/store/store.ts'
import { log } from '../src/store/transaction.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { cpuSecondsOf } from './server.ts'
import { median } from './statistics.ts'
import { onEachStore, type BenchStore } from './stores.ts'

const SIZES = [10_000, 100_000, 1_000_000]
const QUICK_SIZES = [10_000, 30_000]
/** Written, ordered, sealed, read and dropped at each size. */
const SLICE = 8_192
/** As many as a full batch of claims has. */
const BATCH = 64
/** While the log is filled, which isn't measured. */
const FILL_BATCH = 2_048
const POLLS = 100
const GOAL_US = 10

const ENTRY: Omit<Entry, 'at'> = {
  requestId: 'req-2b2c5a9c-6f4c-4a43-8f5e-0d9fb9d0c0de',
  user: 'admin',
  project: '5f705af8-3bb6-4a5b-9a2e-3c1d6d1f9a10',
  roles: 'admin,member,reader',
  address: '127.0.0.1',
  action: 'placement:allocations:update',
  outcome: 'done',
}

/** The entry of a claim. */
function row(at: number) {
  const { project } = ENTRY
  const claims = { [crypto.randomUUID()]: { VCPU: 1, MEMORY_MB: 1_024, DISK_GB: 10 } }
  const consumer = crypto.randomUUID()
  return rowOf({ ...ENTRY, at }, [
    { kind: 'consumer', id: consumer, before: null, after: 1, became: 'claimed', whose: { project }, data: { claims } },
  ])
}

const ANY = {
  user: null,
  project: null,
  action: null,
  objects: null,
  requestId: null,
  since: 0,
  until: Number.MAX_SAFE_INTEGER,
}

/** CPU time of this process and of the database's processes, in microseconds. */
type Spent = () => Promise<{ node: number; database: number }>

interface Cost {
  wall: number
  node: number
  database: number
}

export async function benchAudit({ stores, rounds, warmUpRequests, progress }: BenchOptions): Promise<Report> {
  const works = ['write', 'order', 'seal', 'seal: CPU', 'of it the database', 'read', 'list', 'check', 'drop', 'feed']
  const report: Report = {
    title: 'The audit: µs an entry by the size of the log; feed: µs a poll that finds nothing',
    measured: { columns: ['', ...works], rows: [] },
    limits: { columns: [], rows: [] },
    goals: [],
    faults: [],
  }
  const sizes = warmUpRequests < 20_000 ? QUICK_SIZES : SIZES
  await onEachStore(stores, async kind => {
    const address = await kind.database()
    const store = openStore(address)
    await migrate(store, 0)
    const spent = await meter(store)
    try {
      for (const size of sizes) {
        progress(`${kind.name}: ${size} entries`)
        await measure({ kind, store, spent, size, rounds }, report)
      }
    } finally {
      await store.close()
    }
  })
  return report
}

interface Scene {
  kind: BenchStore
  store: Store
  spent: Spent
  size: number
  rounds: number
}

async function measure({ kind, store, spent, size, rounds }: Scene, report: Report): Promise<void> {
  const works: Record<string, Cost[]> = {}
  const timed = async (name: string, entries: number, work: () => Promise<unknown>) =>
    void (works[name] ??= []).push(await cost(spent, entries, work))
  await fill(store, size - SLICE)
  for (let round = 0; round < rounds; round++) {
    await timed('write', SLICE, () => write(store, SLICE, BATCH))
    await timed('order', SLICE, () => store.ordered())
    const from = (await store.read(() => pageFrom(1, 1))).kept.newest - SLICE + 1
    await timed('seal', SLICE, () => seal(store, 1))
    await timed('read', SLICE, () => readAll(store, from))
    await timed('list', SLICE, () => listAll(store))
    // As many are dropped as were added, so the size stays.
    await timed('drop', SLICE, () => dropSome(store))
    // A poll that finds nothing, which each process makes twenty times a second.
    await timed('feed', POLLS, () => pollOften(store))
  }
  await timed('check', size, async () => {
    const { violations } = await checkAudit(store)
    if (violations > 0) report.faults.push(`${kind.name}, ${size} entries: the chain has ${violations} violations`)
  })
  const wall = (name: string) => figure(median(works[name]!.map(one => one.wall)))
  // The mean: the clock of a process is coarse, and what others do isn't in it.
  const mean = (name: string, of: (one: Cost) => number) =>
    works[name]!.reduce((sum, one) => sum + of(one), 0) / works[name]!.length
  const sealing = mean('seal', one => one.node + one.database)
  report.measured.rows.push([
    `${kind.name}, ${figure(size)} entries`,
    ...['write', 'order', 'seal'].map(wall),
    figure(sealing),
    figure(mean('seal', one => one.database)),
    ...['read', 'list', 'check', 'drop', 'feed'].map(wall),
  ])
  report.goals.push({
    text: `${kind.name}, ${figure(size)} entries: sealed in ${GOAL_US} µs of CPU`,
    value: GOAL_US / sealing,
    atLeast: 1,
  })
}

async function cost(spent: Spent, entries: number, work: () => Promise<unknown>): Promise<Cost> {
  const before = await spent()
  const began = performance.now()
  await work()
  const wall = ((performance.now() - began) * 1_000) / entries
  const after = await spent()
  return {
    wall,
    node: (after.node - before.node) / entries,
    database: (after.database - before.database) / entries,
  }
}

/** Until there are this many, all of them sealed long ago. */
async function fill(store: Store, size: number): Promise<void> {
  const { oldest, newest } = (await store.read(() => pageFrom(1, 1))).kept
  await write(store, size - (newest - oldest + 1), FILL_BATCH)
  await store.ordered()
  await seal(store, 0)
  // As autovacuum would have done by then.
  await store.script(run => run('analyze'))
}

async function write(store: Store, count: number, batch: number): Promise<void> {
  for (let written = 0; written < count; written += batch) {
    const rows = Array.from({ length: Math.min(batch, count - written) }, (_, i) =>
      row(1_700_000_000_000 + written + i),
    )
    await store.write(() => log(rows))
  }
}

async function seal(store: Store, now: number): Promise<void> {
  while ((await store.write(() => sealNext(now))) === limits.auditSealEntries);
}

/** As a stream of events does. */
async function readAll(store: Store, from: number): Promise<void> {
  for (let next = from, found = 1; found > 0; next += found)
    found = (await store.read(() => pageFrom(next, limits.auditSealEntries))).rows.length
}

/** The newest entries, page by page. */
async function listAll(store: Store): Promise<void> {
  let marker: number | null = null
  for (let listed = 0; listed < SLICE; listed += limits.auditPageMax) {
    const found = await store.read(() => listAudit(ANY, marker, limits.auditPageMax))
    for (const part of auditParts(store, found.rows)) await part
    marker = found.marker
  }
}

async function pollOften(store: Store): Promise<void> {
  if (!(store instanceof PostgresStore)) return
  const reader = { refresh: async () => {}, load: async () => {}, woken: () => {}, lagged: () => {}, failed: raise }
  const feed = new Feed(store, reader)
  await feed.load()
  for (let i = 0; i < POLLS; i++) await feed.poll()
  await feed.stop()
}

function raise(error: unknown): never {
  throw error
}

async function dropSome(store: Store): Promise<void> {
  for (let dropped = 0; dropped < SLICE / limits.auditSealEntries;)
    dropped += await store.write(() => pruneSealed(Number.MAX_SAFE_INTEGER))
}

async function meter(store: Store): Promise<Spent> {
  const node = () => {
    const { user, system } = process.cpuUsage()
    return user + system
  }
  if (!(store instanceof PostgresStore)) return async () => ({ node: node(), database: 0 })
  return async () => {
    const { rows } = await store.pool.query<{ pid: number }>(
      'select pid from pg_stat_activity where datname = current_database()',
    )
    return { database: rows.reduce((sum, { pid }) => sum + cpuSecondsOf(pid) * 1e6, 0), node: node() }
  }
}
