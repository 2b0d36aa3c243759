// What can become of a PostgreSQL while processes work on it, under load. It writes to its disk as in service.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import { waitFor } from '../support/baremetal.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { migrateDatabase } from '../support/templates.ts'
import { nothingIsLost } from './load.ts'
import { type FaultyProcess, startConducting, startServing } from './processes.ts'

/** Longer than a silent connection is waited for. */
const AWAY_MS = 4_000
const OURS = "from pg_stat_activity where datname = 'ledger' and pid <> pg_backend_pid() and usename is not null"

describe('a PostgreSQL', () => {
  let postgres: Postgres
  const processes: FaultyProcess[] = []
  const apis = () => processes.filter(({ origin }) => origin !== '')
  before(async () => {
    postgres = await startPostgres({ fsync: true, settings: { max_connections: '60' } })
    const database = await postgres.createDatabase('ledger')
    await migrateDatabase(database)
    processes.push(await startConducting(database, 'conductor'))
    for (let i = 0; i < 2; i++) processes.push(await startServing('api', database))
  })
  after(async () => {
    for (const one of processes) await one.end()
    await postgres?.stop()
  })

  const connected = async () => {
    const client = new Client({ connectionString: postgres.url('ledger') })
    // Some of these faults end this session too.
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const query = async <Row extends object>(text: string): Promise<Row[]> => {
    const client = await connected()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  test('is killed, with all that it runs', t =>
    nothingIsLost(t, apis(), async () => {
      await postgres.kill9()
      await sleep(AWAY_MS / 4)
      await postgres.restart()
    }))

  for (const mode of ['fast', 'immediate'] as const) {
    test(`is restarted in mode ${mode}`, t => nothingIsLost(t, apis(), () => postgres.restart(mode)))
  }

  test('is paused, and goes on', t =>
    nothingIsLost(t, apis(), async () => {
      const children = execFileSync('pgrep', ['-P', String(postgres.pid())])
        .toString()
        .trim()
        .split('\n')
      const all = [postgres.pid(), ...children.map(Number)]
      for (const pid of all) process.kill(pid, 'SIGSTOP')
      await sleep(AWAY_MS)
      for (const pid of all) process.kill(pid, 'SIGCONT')
    }))

  test('has no connection left for them', t =>
    nothingIsLost(t, apis(), async () => {
      const taken: Client[] = []
      const admin = await connected()
      // Each time that ours are ended, someone else is there first, until none is left.
      for (let round = 0; round < 20; round++) {
        taken.push(...(await takeAll(connected)))
        await admin.query(`select pg_terminate_backend(pid) ${OURS} and application_name like 'holdfast%'`)
      }
      await sleep(AWAY_MS)
      for (const client of [...taken, admin]) await client.end()
    }))

  test('takes no writes for a while', t =>
    nothingIsLost(t, apis(), async () => {
      for (const value of ['on', 'off']) {
        await query(`alter system set default_transaction_read_only = ${value}`)
        await query('select pg_reload_conf()')
        if (value === 'on') await sleep(AWAY_MS)
      }
    }))

  test('comes back in recovery, as a standby does, and is promoted', t =>
    nothingIsLost(t, apis(), async () => {
      await postgres.restart('fast', () => writeFileSync(join(postgres.data, 'standby.signal'), ''))
      await sleep(AWAY_MS)
      await query('select pg_promote()')
    }))

  test('ends each of their connections, one after the other, again and again', t =>
    nothingIsLost(t, apis(), async () => {
      for (let round = 0; round < 60; round++) {
        const [oldest] = await query<{ pid: number }>(`select pid ${OURS} order by backend_start limit 1`)
        if (oldest) await query(`select pg_terminate_backend(${oldest.pid})`)
        await sleep(20)
      }
      await waitFor('they have connections again', async () => (await query(`select pid ${OURS}`)).length > 3)
    }))
})

/** Connects until there is no place left. */
async function takeAll(connect: () => Promise<Client>): Promise<Client[]> {
  const taken: Client[] = []
  for (;;) {
    try {
      taken.push(await connect())
    } catch (error) {
      if (error instanceof DatabaseError && error.code === '53300') return taken
      throw error
    }
  }
}
