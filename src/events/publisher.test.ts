import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Entry, rowOf } from '../audit/entry.ts'
import { limits } from '../shared/limits.ts'
import { migrate } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { log, type Subject } from '../store/transaction.ts'
import { BEGINNING, type Cursor, type HoldfastEvent } from './event.ts'
import type { EventKind } from './kinds.ts'
import { Publisher } from './publisher.ts'

const ENTRY: Entry = {
  at: 0,
  requestId: null,
  user: 'me',
  project: null,
  roles: '',
  address: '',
  action: 'x',
  outcome: 'done',
}
const NODES: ReadonlySet<EventKind> = new Set(['node'])
const CLAIMS: ReadonlySet<EventKind> = new Set(['node', 'claim'])
const never = new AbortController().signal

/** A publisher on a database of its own, with the number of reads that it made. */
async function started(opened: AsyncDisposableStack) {
  const inner = openStore('sqlite::memory:')
  opened.defer(() => inner.close())
  await migrate(inner, 0)
  const state = { reads: 0, isAway: false, failures: 0 }
  const store: Store = Object.assign(Object.create(inner) as Store, {
    onNews: (listener: () => void) => inner.onNews(listener),
    ordered: () => inner.ordered(),
    read: (work: Parameters<Store['read']>[0]) => {
      state.reads++
      return state.isAway ? Promise.reject(new Error('away')) : inner.read(work)
    },
  })
  const publisher = new Publisher({ store, failed: () => state.failures++ })
  opened.defer(() => publisher.stop())
  publisher.start()
  const tell = (...subjects: Subject[]) => inner.write(() => log([rowOf(ENTRY, subjects)]))
  const node = (id: string) => tell({ kind: 'node', id, became: 'changed' })
  return { publisher, state, tell, node, inner }
}

const objects = (events: readonly HoldfastEvent[]) => events.map(({ object }) => object)

/** Whether it is over by the time that everything which was begun before has had its turn. */
async function isOver(promise: Promise<unknown>, publisher: Publisher): Promise<boolean> {
  let over = false
  void promise.then(() => (over = true))
  // A read of what isn't there yet looks first, after all looks that were asked for.
  await publisher.read({ sequence: 1e9, part: 0 }, NODES).catch(() => {})
  await new Promise(setImmediate)
  return over
}

describe('the publisher', () => {
  test('wakes who waits for the kind of what was committed, and nobody else', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, tell, node } = await started(opened)
    const from = await publisher.newest()
    const [forNodes, forLeases] = [NODES, new Set<EventKind>(['lease'])].map(kinds =>
      publisher.changed(from, kinds, never),
    )
    await tell({ kind: 'trait', id: 'nobody is told' }, { kind: 'server', id: 's', became: 'active' })
    assert.equal(await isOver(forNodes!, publisher), false)
    await node('n')
    await forNodes
    assert.equal(await isOver(forLeases!, publisher), false)
    assert.deepEqual(objects((await publisher.read(from, NODES)).events), ['n'])
  })

  test('forgets what it has when the database may have lost it, and wakes all who wait', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, node, state } = await started(opened)
    const from = await publisher.newest()
    const heard = publisher.changed(from, NODES, never)
    await node('n')
    await heard
    assert.deepEqual(objects((await publisher.read(from, NODES)).events), ['n'])
    const { cursor } = await publisher.read(from, NODES)
    const waiting = publisher.changed(cursor, NODES, never)
    await isOver(waiting, publisher)
    publisher.forget()
    await waiting
    const before = state.reads
    assert.deepEqual(objects((await publisher.read(from, NODES)).events), ['n'])
    assert.ok(state.reads > before, 'it is read again')
  })

  test('tells at once of what was committed between a read and the wait', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, node } = await started(opened)
    const { cursor } = await publisher.read(BEGINNING, NODES)
    await node('n')
    await publisher.changed(cursor, NODES, never)
    assert.deepEqual(objects((await publisher.read(cursor, NODES)).events), ['n'])
  })

  test('reads nothing when nobody waits', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, node, state } = await started(opened)
    const over = new AbortController()
    const waiting = publisher.changed(await publisher.newest(), NODES, over.signal)
    over.abort()
    await waiting
    await publisher.read(await publisher.newest(), NODES)
    const before = state.reads
    for (let i = 0; i < 20; i++) await node('n')
    await new Promise(resolve => setTimeout(resolve, 3 * limits.eventPollMs))
    assert.equal(state.reads, before)
  })

  test('tells readers that are ahead of a log which has lost its end', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, node, inner } = await started(opened)
    for (const name of ['a', 'b', 'c']) await node(name)
    const from = await publisher.newest()
    const waiting = publisher.changed(from, NODES, never)
    await isOver(waiting, publisher)
    // As after a fail-over to a server that had not got all.
    await inner.script(run => run('drop trigger log_entries_are_sealed_first'))
    await inner.script(run => run('delete from log where id > 1'))
    await waiting
    await assert.rejects(publisher.read(from, NODES), { kind: 'events_ahead' })
    const begun = await publisher.newest()
    await node('d')
    assert.deepEqual(objects((await publisher.read(begun, NODES)).events), ['d'])
  })

  test('serves all who wait with one reader, from memory', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, node, state } = await started(opened)
    const from = await publisher.newest()
    const waiting = Array.from({ length: 200 }, () => publisher.changed(from, NODES, never))
    await isOver(waiting[0]!, publisher)
    await node('n')
    await Promise.all(waiting)
    const before = state.reads
    for (let i = 0; i < 200; i++) assert.deepEqual(objects((await publisher.read(from, NODES)).events), ['n'])
    assert.equal(state.reads, before)
  })

  test('tells all that was committed while nobody waited', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, node } = await started(opened)
    const from = await publisher.newest()
    const first = publisher.changed(from, NODES, never)
    await node('a')
    await first
    const { events, cursor } = await publisher.read(from, NODES)
    assert.deepEqual(objects(events), ['a'])
    await node('b')
    await node('c')
    assert.deepEqual(objects((await publisher.read(cursor, NODES)).events), ['b', 'c'])
    assert.deepEqual(objects((await publisher.read(from, NODES)).events), ['a', 'b', 'c'])
  })

  test('doesn’t read again what passed while nobody waited for long', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, node, state, inner } = await started(opened)
    const from = (await publisher.read(await publisher.newest(), NODES)).cursor
    const entries = 20 * limits.eventPageMax
    const row = rowOf(ENTRY, [{ kind: 'node', id: 'n', became: 'changed' }])
    await inner.write(() => log(Array.from({ length: entries }, () => row)))
    const before = state.reads
    const newest = await publisher.newest()
    const waiting = publisher.changed(newest, NODES, never)
    await isOver(waiting, publisher)
    assert.ok(state.reads - before < 10, `${state.reads - before} reads`)
    await node('new')
    await waiting
    assert.deepEqual(objects((await publisher.read(newest, NODES)).events), ['new'])
    // Who is behind reads it in pages.
    let count = 0
    for (let cursor: Cursor = from, isLast = false; !isLast;) {
      const page = await publisher.read(cursor, NODES)
      count += page.events.length
      ;({ cursor, isLast } = page)
    }
    assert.equal(count, entries + 1)
  })

  test('keeps quiet kinds out of memory, and reads them for those who ask', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, tell, node } = await started(opened)
    const from = await publisher.newest()
    const [loud, all] = [publisher.changed(from, NODES, never), publisher.changed(from, CLAIMS, never)]
    await tell({ kind: 'consumer', id: 'c', became: 'set' })
    await all
    assert.equal(await isOver(loud, publisher), false)
    await node('n')
    await loud
    assert.deepEqual(objects((await publisher.read(from, NODES)).events), ['n'])
    assert.deepEqual(objects((await publisher.read(from, CLAIMS)).events), ['c', 'n'])
  })

  test('goes on from the middle of an entry', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, tell } = await started(opened)
    await publisher.newest()
    const marks = ['a', 'b', 'c'].map(id => ({ kind: 'node', id, became: 'changed' }))
    await tell(...marks)
    for (const at of [0, 1, 2]) {
      const { events } = await publisher.read({ sequence: 1, part: at }, NODES)
      assert.deepEqual(objects(events), ['a', 'b', 'c'].slice(at + 1))
    }
  })

  test('goes on when the database was away', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher, node, state } = await started(opened)
    const from = (await publisher.read(await publisher.newest(), NODES)).cursor
    state.isAway = true
    const waiting = publisher.changed(from, NODES, never)
    await node('n')
    assert.equal(await isOver(waiting, publisher), false)
    assert.ok(state.failures > 0)
    state.isAway = false
    await waiting
    assert.deepEqual(objects((await publisher.read(from, NODES)).events), ['n'])
  })

  test('wakes all when it stops, and lets nobody wait who comes with an aborted signal', async () => {
    await using opened = new AsyncDisposableStack()
    const { publisher } = await started(opened)
    const from = await publisher.newest()
    await publisher.changed(from, NODES, AbortSignal.abort())
    const waiting = publisher.changed(from, NODES, never)
    await publisher.stop()
    await waiting
    await publisher.changed(from, NODES, never)
  })
})
