// The order of the log when it was restored, when servers restart or processes stop, and when it is pruned under readers.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkAudit } from '../../src/audit/fsck.ts'
import { logEnds } from '../../src/audit/order.ts'
import { pruneSealed, sealNext } from '../../src/audit/seals.ts'
import { BEGINNING, type Cursor, type HoldfastEvent } from '../../src/events/event.ts'
import type { EventKind } from '../../src/events/kinds.ts'
import { Problem } from '../../src/problems/problem.ts'
import { StoreUnavailable } from '../../src/store/failure.ts'
import { startPostgres } from '../support/postgres.ts'
import { rounds } from '../support/rounds.ts'
import { migrated } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { change, Foreign, newThing, type Process, startProcess, type Thing } from './world.ts'

const KINDS: ReadonlySet<EventKind> = new Set(['provider'])

/** All events from a place on, as one process reads them. */
async function eventsAfter({ publisher }: Pick<Process, 'publisher'>, after: Cursor): Promise<HoldfastEvent[]> {
  const events: HoldfastEvent[] = []
  for (let cursor = after, isLast = false; !isLast;) {
    const page = await publisher.read(cursor, KINDS)
    events.push(...page.events)
    ;({ cursor, isLast } = page)
  }
  return events
}

const countsIn = (events: readonly HoldfastEvent[], { uuid }: Thing) =>
  events.filter(({ object }) => object === uuid).map(({ data }) => Number(data['count']))
const countsAfter = async (process: Process, after: Cursor, thing: Thing) =>
  countsIn(await eventsAfter(process, after), thing)

/** Who is slow finds that its place is gone, and begins with the oldest that is kept. */
const readKept = ({ publisher }: Process, cursor: Cursor) =>
  publisher.read(cursor, KINDS).catch((error: unknown) => {
    if (error instanceof Problem && error.kind === 'events_gone') return publisher.read(BEGINNING, KINDS)
    throw error
  })

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

eachDatabase('the order of the log', databases => {
  const isShared = databases.kind === 'postgres'

  void describe('', () => {
    void test('stays when it is sealed and pruned by several under readers: each sees what is kept, and none twice', async () => {
      await using opened = new AsyncDisposableStack()
      const address = await databases.create()
      const processes = [await startProcess(address, opened)]
      if (isShared) processes.push(await startProcess(address, opened))
      const [first] = processes
      const thing = await newThing(first!.store)
      const over = new AbortController()
      const until = async (work: () => Promise<unknown>) => {
        while (!over.signal.aborted) await work()
      }
      const duties = processes.map(({ store }) =>
        until(async () => {
          await store.ordered()
          await store.write(() => sealNext(1))
          await store.write(() => pruneSealed(2))
          await sleep(2)
        }),
      )
      const readers = processes.map(async process => {
        const seen: HoldfastEvent[] = []
        let cursor = await process.publisher.newest()
        const read = async () => {
          const page = await readKept(process, cursor)
          seen.push(...page.events)
          ;({ cursor } = page)
          return page.isLast
        }
        await until(async () => {
          await read()
          await sleep(3)
        })
        while (!(await read()));
        return countsIn(seen, thing)
      })
      const writes = rounds(150, 2_000)
      for (let i = 0; i < writes; i++) await change(processes[i % processes.length]!, [thing])
      over.abort()
      await Promise.all(duties)
      for (const seen of await Promise.all(readers)) {
        assert.deepEqual(
          seen,
          [...new Set(seen)].toSorted((a, b) => a - b),
          'in order, none twice',
        )
        assert.equal(seen.at(-1), writes)
      }
      const { oldest, newest } = await first!.store.read(() => logEnds())
      assert.ok(oldest > 1, 'something was pruned')
      const kept = await eventsAfter(first!, BEGINNING)
      assert.deepEqual([kept[0]!.sequence, kept.at(-1)!.sequence], [oldest, newest])
      for (const { store } of processes) assert.equal((await checkAudit(store)).violations, 0)
    })

    void test('holds for very many entries that were committed while nobody followed', async () => {
      await using opened = new AsyncDisposableStack()
      const address = await databases.create()
      const process = await startProcess(address, opened)
      const thing = await newThing(process.store)
      await change(process, [thing])
      const from = (await process.publisher.read(BEGINNING, KINDS)).cursor
      const many = rounds(20_000, 100_000)
      const objects = `'[{"kind":"resource_provider","id":"x","became":"changed","data":{"count":' || n || '}}]'`
      const columns = 'insert into log (at, user_id, roles, address, action, objects, outcome)'
      const numbers = isShared
        ? `select n from generate_series(1, ${many}) as n`
        : `with recursive s(n) as (select 1 union all select n + 1 from s where n < ${many}) select n from s`
      await process.store.script(run =>
        run(`${columns} select 1, 'me', '', '', 'x', ${objects}, 'done' from (${numbers}) as s`),
      )
      const newest = await process.publisher.newest()
      assert.equal(newest.sequence, from.sequence + many)
      const waiting = process.publisher.changed(newest, KINDS, AbortSignal.timeout(60_000))
      await change(process, [thing])
      await waiting
      assert.deepEqual(await countsAfter(process, newest, thing), [2])
      const counts = (await eventsAfter(process, from)).map(({ data }) => Number(data['count']))
      assert.deepEqual(counts, [...upTo(many), 2])
      let sealed = 0
      // As the duty does: what a busy machine left idle for too long is cut off by the database, and tried again.
      const sealSome = (): Promise<number> =>
        process.store
          .write(() => sealNext(1))
          .catch((error: unknown) => {
            if (error instanceof StoreUnavailable) return sealSome()
            throw error
          })
      for (let some = 1; some > 0; sealed += some) some = await sealSome()
      assert.equal(sealed, newest.sequence + 1)
      assert.equal((await checkAudit(process.store)).violations, 0)
    })
  })
})

eachDatabase(
  'the order of the log, shared,',
  databases => {
    void describe('', () => {
      void test('after a restore, gives no second place to an entry whose transaction’s number runs here again', async () => {
        await using opened = new AsyncDisposableStack()
        const address = await databases.create()
        const [sql, running] = [await Foreign.connect(address, opened), await Foreign.connect(address, opened)]
        const one = await startProcess(address, opened)
        const thing = await newThing(one.store)
        await change(one, [thing])
        await one.store.ordered()
        for (const isYounger of [true, false]) {
          await running.begin([])
          const { rows } = await running.query<{ xid: string }>('select pg_current_xact_id()::text as xid')
          // As a dump from another server brings it, in whose count this number was committed.
          await sql.query(`update log set xid = $1::xid8 where action <> ''`, [rows[0]!.xid])
          const next = isYounger ? 4_000_000_000_000 : Number(rows[0]!.xid) + 1
          await sql.query('update log_order set cursor = $1::pg_snapshot where last = (select last from log_head)', [
            `${next}:${next}:`,
          ])
          await change(one, [thing])
          await one.store.ordered()
          await change(one, [thing])
          await one.store.ordered()
          await running.end('commit')
          await change(one, [thing])
          await one.store.ordered()
        }
        assert.deepEqual(await countsAfter(one, BEGINNING, thing), upTo(7))
      })

      void test('waits while someone keeps its head locked, and goes on when it is free', async () => {
        await using opened = new AsyncDisposableStack()
        const address = await databases.create()
        const [one, other] = [await startProcess(address, opened), await startProcess(address, opened)]
        const sql = await Foreign.connect(address, opened)
        const thing = await newThing(one.store)
        const from = await one.publisher.newest()
        await sql.query('begin')
        await sql.query('select pg_advisory_xact_lock(8787)')
        await change(one, [thing])
        await change(other, [thing])
        assert.deepEqual(
          await countsAfter(other, from, thing),
          [],
          'claims and requests go on, and nobody hears of them',
        )
        const waiting = other.publisher.changed(from, KINDS, AbortSignal.timeout(60_000))
        await sql.query('rollback')
        await waiting
        assert.deepEqual(await countsAfter(other, from, thing), upTo(2))
      })

      void test('has what was committed before, although another gives places at that moment', async () => {
        await using opened = new AsyncDisposableStack()
        const address = await databases.create()
        const one = await startProcess(address, opened)
        const sql = await Foreign.connect(address, opened)
        const thing = await newThing(one.store)
        const { sequence } = await one.publisher.newest()
        for (let n = 1; n <= 20; n++) {
          await sql.query('begin')
          await sql.query('select pg_advisory_xact_lock(8787)')
          await change(one, [thing])
          const newest = one.publisher.newest()
          await sql.query('select pg_sleep(0.01)')
          await sql.query('commit')
          assert.equal((await newest).sequence, sequence + n)
        }
      })

      void test('survives restarts and crashes of the server', async () => {
        await using opened = new AsyncDisposableStack()
        const postgres = await startPostgres({ fsync: true })
        opened.defer(() => postgres.stop())
        const address = await migrated(await postgres.createDatabase())
        const [one, other] = [await startProcess(address, opened), await startProcess(address, opened)]
        const thing = await newThing(one.store)
        const seen: HoldfastEvent[] = []
        let cursor = await one.publisher.newest()
        const over = new AbortController()
        const reading = (async () => {
          while (!over.signal.aborted) {
            const page = await other.publisher.read(cursor, KINDS).catch(() => null)
            seen.push(...(page?.events ?? []))
            cursor = page?.cursor ?? cursor
            if (!page || page.isLast) await other.publisher.changed(cursor, KINDS, AbortSignal.timeout(20))
          }
        })()
        let granted = 0
        for (let round = 0; round < rounds(2, 8); round++) {
          const writing = Promise.allSettled(Array.from({ length: 20 }, () => change(one, [thing])))
          await sleep(5)
          if (round % 2 === 0) await postgres.kill9()
          await postgres.restart()
          granted += (await writing).filter(({ status }) => status === 'fulfilled').length
          for (let tried = 0; tried < 500; tried++) {
            if (
              await change(one, [thing]).then(
                () => true,
                () => sleep(20, false),
              )
            )
              break
          }
          granted++
        }
        const [row] = await one.store.script(run => run(`select generation::int from providers where id = ${thing.id}`))
        const total = Number(row!['generation'])
        assert.ok(total >= granted, 'what was answered is kept')
        const deadline = performance.now() + 60_000
        while (countsIn(seen, thing).length < total && performance.now() < deadline) await sleep(20)
        over.abort()
        await reading
        assert.deepEqual(countsIn(seen, thing), upTo(total))
        assert.deepEqual(await countsAfter(one, BEGINNING, thing), upTo(total))
      })
    })
  },
  ['postgres'],
)
