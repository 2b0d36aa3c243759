// What the shared store makes of a network that fails: it finds out, says so, and goes on.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { StoreConflict, StoreUnavailable } from '../../src/store/failure.ts'
import { migrate } from '../../src/store/migrate.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import { all, note, one, run, wake } from '../../src/store/transaction.ts'
import { eventually } from '../candidates/questions.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import * as sql from '../store/statements.ts'
import { asId } from '../support/ids.ts'

// Less patient than a service, so that the tests are quick.
const patience = { connectMs: 1_000, silenceMs: 200, lockMs: 200, closeMs: 200 }
// Only writes ask for their number.
const WRITE = '\0who\0'
const LISTENING = `select pid from pg_stat_activity
  where datname = current_database() and application_name = 'holdfast feed'`

describe('a store on a network that fails', () => {
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let database: string
  let proxy: Proxy
  let store: PostgresStore

  before(async () => {
    postgres = await sharedPostgres()
    database = await postgres.createDatabase()
    const direct = new PostgresStore(database)
    await migrate(direct, 0)
    await direct.close()
  })
  after(() => postgres?.stop())
  beforeEach(async () => {
    proxy = await startProxy(database)
    store = new PostgresStore(proxy.url, { patience })
  })
  afterEach(async () => {
    await store.close()
    await proxy.stop()
  })

  const add = (name: string) => store.write(() => run(sql.addTrait({ name, now: 0 })))
  const has = async (name: string) => (await store.read(() => one(sql.traitByName({ name })))) !== undefined
  const isAway = (error: unknown) => error instanceof StoreUnavailable

  test('finds connections that have fallen silent, tells who waits, and gets through once there is a way', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? add(`BEFORE_${i}`) : has('BEFORE'))))
    proxy.silence()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) => (i % 3 ? add(`DURING_${i}`) : has('DURING'))),
    )
    for (const { status } of outcomes) assert.equal(status, 'rejected')
    await assert.rejects(store.ping(), isAway)
    proxy.pass()
    await eventually(
      () =>
        add('AFTER').then(
          () => true,
          () => false,
        ),
      done => done,
    )
    await store.ping()
    assert.ok(await has('AFTER'))
    assert.deepEqual(await store.read(() => all(sql.traitsLike({ pattern: 'DURING%' }))), [])
  })

  test('leaves a statement alone that only takes long', async () => {
    const slow = store.script(sql => sql('select pg_sleep(1.5), 1 as value'))
    assert.equal((await slow)[0]!['value'], 1)
  })

  test('closes, whatever the network does', async () => {
    await Promise.all([add('CLOSING'), has('CLOSING')])
    proxy.silence()
    const waiting = assert.rejects(add('CLOSED'), isAway)
    await eventually(
      async () => store.pools.writes.idleCount,
      idle => idle === 0,
    )
    await store.close()
    await waiting
  })

  test('hears of others’ commits again after its connection has gone deaf', async () => {
    let news = 0
    const stop = store.onNews(() => news++)
    const other = new PostgresStore(database, { origin: 'other' })
    const isHeard = async () => {
      const before = news
      await other.write(() => wake('nodes'))
      await sleep(50)
      return news > before
    }
    await eventually(isHeard, heard => heard)
    proxy.silence()
    proxy.pass()
    await eventually(isHeard, heard => heard)
    stop()
    await other.close()
  })

  test('listens for all by one connection, and all are told when it was lost and is back', async () => {
    const watcher = new Client({ connectionString: database })
    await watcher.connect()
    const heard: string[] = []
    const earOn = (channel: string) => ({
      channel,
      heard: (payload?: string) => void heard.push(`${channel} ${payload}`),
      connected: () => void heard.push(`${channel} is heard`),
      lost: () => void heard.push(`${channel} is lost`),
    })
    const until = (words: readonly string[]) =>
      eventually(
        async () => heard.toSorted(),
        found => words.toSorted().join() === found.join(),
      ).then(() => (heard.length = 0))
    const [one, two, three] = [earOn('one'), earOn('two'), earOn('three')]
    await Promise.all([store.listener.listen(one), store.listener.listen(two)])
    await store.listener.listen(three)
    await until(['one is heard', 'two is heard', 'three is heard'])
    const { rows } = await watcher.query<{ pid: number }>(LISTENING)
    assert.equal(rows.length, 1)
    store.listener.forget(three)
    await watcher.query("notify three, 'c'; notify one, 'a'; notify two, 'b'")
    await until(['one a', 'two b'])
    await watcher.query('select pg_terminate_backend($1)', [rows[0]!.pid])
    await until(['one is lost', 'two is lost', 'one is heard', 'two is heard'])
    store.listener.forget(one)
    store.listener.forget(two)
    await eventually(
      async () => (await watcher.query(LISTENING)).rowCount,
      count => count === 0,
    )
    assert.deepEqual(heard, [])
    await watcher.end()
  })

  test('a commit is answered as done when only its answer was lost', async () => {
    for (const fault of ['cut', 'silence'] as const) {
      await add(`FIRST_${fault}`)
      const heard: number[] = []
      store.onCommit(({ changes }) => void heard.push(...changes.map(({ provider }) => provider)))
      const swallowed = proxy.swallowAnswerTo(WRITE, { fault })
      await store.write(function* () {
        yield* run(sql.addTrait({ name: `KEPT_${fault}`, now: 0 }))
        yield* note([{ provider: asId(7) }])
      })
      await swallowed
      assert.ok(await has(`KEPT_${fault}`))
      assert.deepEqual(heard, [7])
      await add(`LAST_${fault}`)
    }
  })

  test('a write that was cut off before its commit is told so, and has done nothing', async () => {
    await add('WARM')
    const swallowed = proxy.swallowAnswerTo(WRITE, { answer: 'BEGIN\0' })
    await assert.rejects(add('CUT_OFF'), isAway)
    await swallowed
    assert.equal(await has('CUT_OFF'), false)
  })

  test('when nobody can tell what became of a commit, it says that, and that memory is in doubt', async () => {
    await add('SURE')
    let doubts = 0
    store.onDoubt(() => doubts++)
    const swallowed = proxy.swallowAnswerTo(WRITE).then(() => proxy.refuse())
    await assert.rejects(add('UNSURE'), /may be done/)
    await swallowed
    assert.equal(doubts, 1)
  })

  test('a commit that memory could not take in is done all the same, and memory is in doubt', async () => {
    let doubts = 0
    store.onDoubt(() => doubts++)
    store.onCommit(() => Promise.reject(new StoreUnavailable('the reading failed')))
    await add('NOT_TAKEN_IN')
    assert.equal(doubts, 1)
    assert.ok(await has('NOT_TAKEN_IN'))
  })

  test('everything else goes on while more writes wait for one row than there are connections', async () => {
    await add('LOCKED')
    const blocker = new Client({ connectionString: database })
    await blocker.connect()
    const watcher = new Client({ connectionString: database })
    await watcher.connect()
    await blocker.query("begin; select 1 from traits where name = 'LOCKED' for update")
    const raise = () => store.write(() => run(sql.raiseTime({ name: 'LOCKED' })))
    const waiting = Promise.allSettled(Array.from({ length: 20 }, raise))
    const isBlocked = `select count(*)::int as blocked from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    await eventually(
      async () => (await watcher.query<{ blocked: number }>(isBlocked)).rows[0]!.blocked,
      n => n > 3,
    )
    assert.ok(await has('LOCKED'))
    await store.ping()
    await store.pool.query('select 1')
    await add('NOT_LOCKED')
    await blocker.query('commit')
    const outcomes = await waiting
    const refusals = outcomes.filter(outcome => outcome.status === 'rejected').map(({ reason }) => reason as unknown)
    for (const reason of refusals) assert.ok(reason instanceof StoreConflict, String(reason))
    const { created_at } = (await store.read(() => one(sql.traitByName({ name: 'LOCKED' }))))!
    assert.equal(created_at, 20 - refusals.length)
    await blocker.end()
    await watcher.end()
  })

  test('compiles no statements, on any of its connections', async () => {
    const [setting] = await store.script(sql => sql('show jit'))
    assert.equal(setting!['jit'], 'off')
    assert.deepEqual((await store.pool.query('show jit')).rows, [{ jit: 'off' }])
    const session = store.pools.session()
    await session.connect()
    assert.deepEqual((await session.query('show jit')).rows, [{ jit: 'off' }])
  })

  test('goes to the next host when one is away, and stays with the one that serves', async () => {
    const { username, host, pathname } = new URL(proxy.url)
    const several = new PostgresStore(`postgres://${username}@127.0.0.1:1,${host}${pathname}`, { patience })
    await several.ping()
    await several.write(() => run(sql.addTrait({ name: 'ELSEWHERE', now: 0 })))
    await several.close()
    assert.ok(await has('ELSEWHERE'))
  })
})
