// A backup that is taken under load, and restored after the original is gone.
// PostgreSQL: a base backup and the archived log, as pgBackRest and others do it. SQLite: `vacuum into`.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { waitFor } from '../support/baremetal.ts'
import { startPostgres } from '../support/postgres.ts'
import { startServer } from '../support/server.ts'
import { sqliteCopy } from '../support/stores.ts'
import { migrateDatabase } from '../support/templates.ts'
import { Load } from './load.ts'

const WHILE_MS = 500

test('of SQLite has all that was answered before it began, and nothing by halves', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-restore-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const database = await sqliteCopy(folder)
  const first = await startServer(database, { testClock: true })
  const load = await Load.on([first])
  t.after(() => load.close())
  let copiedNs = 0n
  const copy = join(folder, 'copy.db')
  await load.during(async () => {
    const reader = new DatabaseSync(database.slice('sqlite:'.length))
    // The server is in this process: nothing is answered between this and the copy.
    copiedNs = process.hrtime.bigint()
    reader.exec(`vacuum into '${copy}'`)
    reader.close()
    await sleep(WHILE_MS)
  })
  await first.stop()
  const second = await startServer(`sqlite:${copy}`, { testClock: true })
  t.after(() => second.stop())
  load.at(second.origin)
  await load.expectKept(copiedNs)
  await load.expectLeasesToLive()
  t.diagnostic(load.summary)
})

test('of PostgreSQL with its archived log has all that was ever answered', async t => {
  const archive = mkdtempSync(join(tmpdir(), 'holdfast-archive-'))
  execFileSync('chmod', ['777', archive])
  t.after(() => rmSync(archive, { recursive: true, force: true }))
  const settings = {
    archive_mode: 'on',
    archive_command: `cp %p ${archive}/%f`,
    restore_command: `cp ${archive}/%f %p`,
  }
  const postgres = await startPostgres({ fsync: true, settings })
  t.after(() => postgres.stop())
  const database = await postgres.createDatabase('ledger')
  await migrateDatabase(database)
  const first = await startServer(database, { testClock: true })
  const load = await Load.on([first])
  t.after(() => load.close())
  const backup = join(archive, 'base')
  await load.during(async () => {
    await withClient(postgres.url('postgres'), client => baseBackup(client, postgres.data, backup))
    await sleep(WHILE_MS)
  })
  await first.stop()
  await withClient(postgres.url('postgres'), archived)
  await postgres.kill9()
  // The machine is gone with its disk; another one gets the backup and reads the archive to its end.
  await postgres.restart('fast', () => {
    rmSync(postgres.data, { recursive: true })
    execFileSync('cp', ['-a', backup, postgres.data])
    writeFileSync(join(postgres.data, 'recovery.signal'), '')
    execFileSync('chown', ['-R', '--reference', join(postgres.data, '..'), postgres.data])
  })
  await waitFor('it is out of recovery', () =>
    withClient(postgres.url('postgres'), async client => {
      const { rows } = await client.query<{ away: boolean }>('select pg_is_in_recovery() as away')
      return !rows[0]!.away
    }),
  )
  const second = await startServer(database, { testClock: true })
  t.after(() => second.stop())
  load.at(second.origin)
  await load.expectKept()
  await load.expectLeasesToLive()
  t.diagnostic(load.summary)
})

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

/** As the manual has it: files are copied while the server writes them, and the label says where to begin. */
async function baseBackup(client: Client, data: string, to: string): Promise<void> {
  await client.query("select pg_backup_start('test', true)")
  mkdirSync(to, { mode: 0o700 })
  // Files come and go meanwhile; the log has what became of them.
  execFileSync('sh', ['-c', `cp -a "$1/." "$2" 2>/dev/null; true`, 'sh', data, to])
  for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(to, name), { force: true })
  rmSync(join(to, 'pg_wal'), { recursive: true })
  mkdirSync(join(to, 'pg_wal'), { mode: 0o700 })
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
  writeFileSync(join(to, 'backup_label'), rows[0]!.labelfile)
}

/** Waits until all that was written so far is in the archive. */
async function archived(client: Client): Promise<void> {
  const { rows } = await client.query<{ file: string }>('select pg_walfile_name(pg_switch_wal()) as file')
  await waitFor('the log is archived', async () => {
    const done = await client.query<{ last: string | null }>('select last_archived_wal as last from pg_stat_archiver')
    return (done.rows[0]!.last ?? '') >= rows[0]!.file
  })
}
