// Four API processes on one PostgreSQL: whatever storm went through them, in the end each answers as a fresh one would.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { Placement } from '../support/placement.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { rounds } from '../support/rounds.ts'
import { migrated, type ServerProcess, spawnServer, startServer } from '../support/server.ts'
import { candidates, eventually, newClass, providersIn } from './questions.ts'
import { Storm } from './storm.ts'

const PROCESSES = 4
const WRITES = rounds(100, 200)

describe('four processes on one PostgreSQL', () => {
  const api = new Placement()
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let servers: ServerProcess[] = []
  let database = ''
  let sql: Client

  before(async () => {
    postgres = await sharedPostgres()
    database = await migrated(await postgres.createDatabase())
    servers = await Promise.all(Array.from({ length: PROCESSES }, () => spawnServer(database, [], 'api')))
    api.origins = servers.map(server => server.origin)
    sql = new Client({ connectionString: database, application_name: 'test' })
    await sql.connect()
  })
  after(async () => {
    api.close()
    await sql?.end()
    await Promise.all(servers.map(server => server.stop()))
    await postgres?.stop()
  })

  /** Each process comes to answer as one that has just read everything. */
  async function expectAgreement(storm: Storm): Promise<void> {
    const fresh = await startServer(database, {}, 'api')
    try {
      const expected = await storm.view(fresh.origin)
      assert.match(expected, /allocations/, 'something is left to compare')
      for (const { origin } of servers) {
        await eventually(
          () => storm.view(origin),
          view => view === expected,
        )
      }
    } finally {
      await fresh.stop()
    }
    await api.fsck()
  }

  const terminate = (where: string) =>
    sql.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and ${where}`)

  /** Does it again and again while the storm blows. */
  async function during(blowing: Promise<void>, act: () => Promise<unknown>): Promise<number> {
    const state = { over: false }
    const ended = blowing.finally(() => (state.over = true))
    let times = 0
    for (; !state.over && times < 1_000; times++) {
      await act()
      await Promise.race([sleep(60), ended.catch(() => {})])
    }
    await ended
    return times
  }

  test('agree after a storm', async () => {
    const storm = new Storm(api, 1)
    await storm.prepare()
    await storm.blow(WRITES)
    await expectAgreement(storm)
  })

  test('agree after a storm in which the listeners were cut off again and again', async () => {
    const storm = new Storm(api, 2)
    await storm.prepare()
    const times = await during(storm.blow(WRITES), () => terminate(`application_name = 'holdfast feed'`))
    assert.ok(times > 3, `only ${times} cuts`)
    await expectAgreement(storm)
    // And they listen again.
    await eventually(
      async () => {
        const counted = `select count(*)::int as n from pg_stat_activity
          where datname = current_database() and application_name = 'holdfast feed'`
        return (await sql.query<{ n: number }>(counted)).rows[0]!.n
      },
      listening => listening === PROCESSES,
    )
  })

  test('agree after a storm in which every connection was cut off again and again', async () => {
    const storm = new Storm(api, 3)
    await storm.prepare()
    const cut = () => terminate(`application_name <> 'test'`)
    // 503: the database was away for this one.
    const blowing = storm.blow(WRITES, ({ status }) => status < 500 || status === 503)
    const times = await during(blowing, cut)
    assert.ok(times > 3, `only ${times} cuts`)
    await expectAgreement(storm)
  })

  test('know each other’s parents when a child is made below one at once', async () => {
    const name = await newClass(api)
    const [one, two] = api.origins.map(origin => new Placement(origin))
    for (let round = 0; round < 10; round++) {
      const parent = await one!.provider({})
      const child = await two!.provider({ [name]: 1 + round }, { parent })
      const { summaries, ...found } = await candidates(two!, `resources=${name}:${1 + round}`)
      assert.deepEqual(providersIn({ summaries, ...found }), [child])
      assert.deepEqual(Object.keys(summaries).sort(), [child, parent].sort())
    }
    one!.close()
    two!.close()
  })

  test('tell how far behind they were', async () => {
    const name = await newClass(api)
    const [one, two] = api.origins.map(origin => new Placement(origin))
    const provider = await one!.provider({ [name]: 1 })
    await eventually(
      async () => providersIn(await candidates(two!, `resources=${name}:1`)),
      found => found.includes(provider),
    )
    const metrics = await (await fetch(`${api.origins[1]}/metrics`)).text()
    const [, count] = /^holdfast_feed_lag_seconds_count (\d+)$/m.exec(metrics) ?? []
    assert.ok(Number(count) > 0, metrics.slice(0, 200))
    assert.match(metrics, /^holdfast_feed_lag_seconds_bucket\{le="0.1"\} \d+$/m)
    one!.close()
    two!.close()
  })
})
