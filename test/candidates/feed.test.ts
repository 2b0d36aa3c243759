// The change feed on PostgreSQL when commits come late or entries are pruned before they were read.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { Placement } from '../support/placement.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Server, startServer } from '../support/server.ts'
import { candidates, eventually, newClass, newTrait, providersIn, setTraits } from './questions.ts'

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
    if (origin) await client.query('insert into changes (provider_id, origin) values ($1, $2)', [rows[0]!.id, origin])
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
      await sql.query('lock table changes_horizon, changes in access exclusive mode')
      await addTrait(sql, provider, trait, 'someone')
      await sql.query('delete from changes')
      await sql.query(`update changes_horizon set xid = (pg_current_xact_id()::text::numeric + 1)::text::xid8`)
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
    await sql.query(`insert into changes (provider_id, origin)
      select id, 'someone' from providers, generate_series(1, 200000) where uuid = '${provider}'`)
    await sql.query('commit')
    await eventually(
      () => withTrait(name, trait),
      found => found.includes(provider),
    )
    await eventually(polled, count => count > before)
  })
})
