// The change feed on PostgreSQL when commits come late or entries are pruned before they were read.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { Feed } from '../../src/store/feed.ts'
import { migrate } from '../../src/store/migrate.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import { Placement } from '../support/placement.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Server, startServer } from '../support/server.ts'
import { candidates, eventually, newClass, newTrait, providersIn, setTraits } from './questions.ts'

/** Tells the others that a provider changed, as a transaction does that is no entry. */
const TELL = `insert into log (at, user_id, roles, address, action, objects, outcome, providers, origin)
  values (0, '', '', '', '', '[]', 'done', array[$1::bigint], $2)`

describe('the feed of changes', () => {
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  const servers: Server[] = []
  const clients: Client[] = []
  let database = ''
  let sql: Client
  /** The process that is looked at, and another that writes. */
  const watched = new Placement()
  const other = new Placement()

  before(async () => {
    postgres = await sharedPostgres()
    database = await postgres.createDatabase()
    for (const api of [watched, other]) {
      const server = await startServer(database)
      servers.push(server)
      api.origins = [server.origin]
    }
    sql = await connect()
  })
  after(async () => {
    for (const api of [watched, other]) api.close()
    for (const client of clients) await client.end()
    for (const server of servers) await server.stop()
    await postgres?.stop()
  })

  async function connect(): Promise<Client> {
    // With a bound, so that a test that fails in the middle of a transaction doesn't hold up the next for ever.
    const client = new Client({ connectionString: database, statement_timeout: 10_000 })
    clients.push(client)
    await client.connect()
    return client
  }

  /** Gives a provider a trait, as a process with that name would, or without telling anyone. */
  async function addTrait(client: Client, provider: string, trait: string, origin: string | null): Promise<void> {
    const { rows } = await client.query<{ id: string }>(
      'update providers set revision = revision + 1 where uuid = $1 returning id',
      [provider],
    )
    const values = [rows[0]!.id, trait]
    await client.query('insert into provider_traits select $1, id from traits where name = $2', values)
    if (origin) await client.query(TELL, [rows[0]!.id, origin])
  }

  const withTrait = async (name: string, trait: string) =>
    providersIn(await candidates(watched, `resources=${name}:1&required=${trait}`))

  /** A change through the other process, waited for in the watched one: by then it has polled, and its cursor moved. */
  async function letPass(name: string, changes: number): Promise<void> {
    for (let count = 0; count < changes; count++) {
      const trait = await newTrait(other)
      const provider = await other.provider({ [name]: 1 })
      await setTraits(other, provider, trait)
      await eventually(
        () => withTrait(name, trait),
        found => found.includes(provider),
      )
    }
  }

  test('brings a change whose transaction began long before others and was committed after them', async () => {
    const name = await newClass(watched)
    for (let round = 0; round < 4; round++) {
      const trait = await newTrait(watched)
      const [late, later] = [await watched.provider({ [name]: 1 }), await watched.provider({ [name]: 1 })]
      const [first, second] = [await connect(), await connect()]
      await first.query('begin')
      await addTrait(first, late, trait, 'someone')
      await letPass(name, 2)
      await second.query('begin')
      await addTrait(second, later, trait, 'someone else')
      await letPass(name, 2)
      assert.deepEqual(await withTrait(name, trait), [])
      // In turns the one that began first is committed first or last.
      const order = round % 2 === 0 ? [first, second] : [second, first]
      await order[0]!.query('commit')
      await eventually(
        () => withTrait(name, trait),
        found => found.length === 1,
      )
      await letPass(name, 1)
      await order[1]!.query('commit')
      await eventually(
        () => withTrait(name, trait),
        found => found.length === 2,
      )
    }
  })

  test('takes no harm from transactions that began early and were rolled back', async () => {
    const name = await newClass(watched)
    const trait = await newTrait(watched)
    const provider = await watched.provider({ [name]: 1 })
    const client = await connect()
    await client.query('begin')
    await addTrait(client, provider, trait, 'someone')
    await letPass(name, 2)
    await client.query('rollback')
    await letPass(name, 2)
    assert.deepEqual(await withTrait(name, trait), [])
  })

  test('makes a process read everything again when entries are gone that it had not seen', async () => {
    const name = await newClass(watched)
    for (let round = 0; round < 3; round++) {
      const trait = await newTrait(watched)
      const provider = await watched.provider({ [name]: 1 })
      await sql.query('begin')
      // In the order in which polls read them. Nobody can poll until this is over; by then the entry is already
      // pruned, and the horizon is behind it.
      await sql.query('lock table log_start, log in access exclusive mode')
      await addTrait(sql, provider, trait, 'someone')
      await sql.query(`delete from log where action = ''`)
      const after = '(pg_current_xact_id()::text::numeric + 1)::text'
      await sql.query(`update log_start set pruned = (${after} || ':' || ${after} || ':')::pg_snapshot`)
      await sql.query('commit')
      await eventually(
        () => withTrait(name, trait),
        found => found.includes(provider),
      )
      await letPass(name, 1)
    }
  })

  test('goes on after more entries at once than there ever were', async () => {
    const name = await newClass(watched)
    const trait = await newTrait(watched)
    const provider = await watched.provider({ [name]: 1 })
    const polled = async () => {
      const text = await (await fetch(`${watched.origin}/metrics`)).text()
      return Number(/^holdfast_feed_lag_seconds_count (\d+)$/m.exec(text)?.[1])
    }
    const before = await polled()
    await sql.query('begin')
    await addTrait(sql, provider, trait, 'someone')
    await sql.query(`insert into log (at, user_id, roles, address, action, objects, outcome, providers, origin)
      select 0, '', '', '', '', '[]', 'done', array[id], 'someone'
      from providers, generate_series(1, 200000) where uuid = '${provider}'`)
    await sql.query('commit')
    await eventually(
      () => withTrait(name, trait),
      found => found.includes(provider),
    )
    await eventually(polled, count => count > before)
  })
})

describe('beside a transaction that stays open in another database of the server, the feed of changes', () => {
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  const clients: Client[] = []
  let database = ''
  let sql: Client
  let store: PostgresStore
  before(async () => {
    postgres = await sharedPostgres()
    database = await postgres.createDatabase()
    store = new PostgresStore(database, { origin: 'the reader' })
    await migrate(store, 0)
    const foreign = await connect(await postgres.createDatabase())
    await foreign.query('begin')
    await foreign.query('select pg_current_xact_id()')
    sql = await connect()
  })
  after(async () => {
    for (const client of clients) await client.end()
    await store.close()
    await postgres.stop()
  })

  async function connect(to = database): Promise<Client> {
    const client = new Client({ connectionString: to })
    clients.push(client)
    await client.connect()
    return client
  }

  const write = (provider: number, origin = 'someone') => sql.query(TELL, [provider, origin])
  const kept = async () => (await sql.query<{ n: number }>('select count(*)::int as n from log')).rows[0]!.n

  /** A feed that polls only when it is told to, and what it read and loaded. */
  async function follow(failed = (error: unknown): void => assert.fail(String(error))) {
    const read: number[][] = []
    const loads: number[] = []
    /** Which of these loads were to believe nothing that was known. */
    const anew: boolean[] = []
    const fellBack: object[] = []
    const feed = new Feed(
      store,
      {
        refresh: async providers => void read.push([...providers].sort((a, b) => a - b)),
        load: async isAnew => {
          loads.push(read.length)
          anew.push(isAnew)
        },
        fellBack: places => void fellBack.push(places),
        lagged: () => {},
        woken: () => {},
        failed,
      },
      0,
    )
    await feed.load()
    return { feed, read, loads, anew, fellBack }
  }

  test('reads what is new at each poll, and nothing else', async () => {
    const { feed, read, loads } = await follow()
    const [early, late] = [await connect(), await connect()]
    await early.query('begin')
    await early.query(TELL, [-1, 'someone'])
    for (let round = 1; round <= 50; round++) {
      await write(round)
      await write(round, 'the reader')
      await feed.poll()
      assert.equal(feed.backlog, 1)
    }
    await late.query('begin')
    await late.query(TELL, [-2, 'someone'])
    await early.query('commit')
    await feed.poll()
    await late.query('commit')
    await feed.poll()
    await feed.poll()
    assert.equal(feed.backlog, 0)
    assert.deepEqual(read, [...Array.from({ length: 50 }, (_, i) => [i + 1]), [-1], [-2]])
    assert.deepEqual(loads, [0])
    await feed.stop()
  })

  test('prunes what has been read, and not what is committed late', async () => {
    const one = await follow()
    const other = await follow()
    const late = await connect()
    await late.query('begin')
    await late.query(TELL, [-1, 'someone'])
    for (let round = 1; round <= 5; round++) await write(round)
    for (const { feed } of [one, other]) await feed.poll()
    await late.query('commit')
    await one.feed.prune(performance.now())
    assert.equal(await kept(), 1)
    for (const { feed, read, loads } of [one, other]) {
      await feed.poll()
      assert.deepEqual(read, [[1, 2, 3, 4, 5], [-1]])
      assert.deepEqual(loads, [0], 'it has seen all that is gone')
      await feed.stop()
    }
  })

  test('makes whoever has not read what is pruned load everything, once', async () => {
    const one = await follow()
    const other = await follow()
    // What it does not see at first is committed before others that it does not see either.
    const late = await connect()
    await late.query('begin')
    await late.query(TELL, [-1, 'someone'])
    await write(1)
    for (const { feed } of [one, other]) await feed.poll()
    await late.query('commit')
    await one.feed.poll()
    await one.feed.prune(performance.now())
    for (let round = 0; round < 3; round++) {
      for (const { feed } of [one, other]) await feed.poll()
    }
    assert.deepEqual(one.loads, [0])
    assert.deepEqual(other.loads, [0, 1])
    for (const { feed } of [one, other]) await feed.stop()
  })

  test('loads everything when it may lack a commit of its own, as soon as nothing of its own is running', async () => {
    const doubts: unknown[] = []
    const { feed, loads } = await follow(error => void doubts.push(error))
    const own = await store.pool.connect()
    await own.query('begin')
    store.onCommit(() => {
      throw new Error('memory can not take it in')
    })
    await store.write(function* () {})
    assert.equal(doubts.length, 1)
    await feed.poll()
    await feed.poll()
    assert.deepEqual(loads, [0], 'its own transaction may be the one in doubt')
    await own.query('commit')
    own.release()
    await feed.poll()
    await feed.poll()
    assert.deepEqual(loads, [0, 0])
    await feed.stop()
  })

  test('loads everything anew when the log ends before what was seen, on the same server too', async () => {
    const { feed, anew, fellBack } = await follow()
    const entry = (id: number) =>
      sql.query(
        `insert into log (at, user_id, roles, address, action, objects, outcome) values (0, '', '', '', $1, '[]', 'done')`,
        [`entry-${id}`],
      )
    const last = async () =>
      Number((await sql.query<{ last: string }>('select order_log(), last from log_head')).rows[0]!.last)
    const newest = await last()
    for (let id = 0; id < 3; id++) await entry(id)
    await last()
    const seen = await last()
    await feed.poll()
    await sql.query('delete from log_order where last > $1', [newest])
    await feed.poll()
    await feed.poll()
    assert.deepEqual(anew, [false, true])
    assert.deepEqual(fellBack, [{ seen, newest }])
    await feed.stop()
  })

  test('loads everything after its listener was cut off, since the server may have crashed', async () => {
    const { feed, loads } = await follow()
    await feed.start()
    assert.deepEqual(loads, [0, 0])
    const listeners = `from pg_stat_activity where datname = current_database() and application_name = 'holdfast feed'`
    await sql.query(`select pg_terminate_backend(pid) ${listeners}`)
    await eventually(
      async () => loads.length,
      count => count === 3,
    )
    await feed.stop()
  })
})
