// `holdfast migrate` is killed in the middle: the database is as it was before, and the next run brings it up.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { checkEverything } from '../../src/measure/fsck.ts'
import { migrate, migrationsOf, pendingMigrations } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { chance } from '../races/clients.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { Placement } from '../support/placement.ts'

const KILLS = rounds(4, 20)
const STORE = fileURLToPath(new URL('../../src/store/', import.meta.url))
/** Says when it begins, so that it is killed at work and not while Node starts. */
const SCRIPT = `
  const { openStore } = await import('${STORE}open.ts')
  const { migrate } = await import('${STORE}migrate.ts')
  const store = openStore(process.argv[1])
  process.stdout.write('begins')
  await migrate(store, 0)
  process.stdout.write('ends')
  await new Promise(resolve => setTimeout(resolve, 60_000))`

eachDatabase('a migration', ({ createEmpty }) => {
  test(`that is killed in the middle, ${KILLS} times, leaves all or nothing, and the next one ends it`, async () => {
    const database = await createEmpty()
    const below = chance(3)
    let cut = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, database], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let said = ''
      child.stdout.setEncoding('utf8').on('data', text => (said += text))
      await once(child.stdout, 'data')
      // The first right after it began; later ones at any moment of what it takes.
      await sleep(kill === 0 ? 0 : below(60))
      child.kill('SIGKILL')
      await once(child, 'close')
      const store = openStore(database)
      const pending = await pendingMigrations(store)
      await store.close()
      const isDone = said.includes('ends')
      if (!isDone) cut++
      const all = migrationsOf(store.dialect).length
      assert.ok(pending.length === 0 || pending.length === all, `${pending.length} of ${all} are left`)
      assert.ok(!isDone || pending.length === 0, 'it had said that it was done')
      if (pending.length === 0) break
    }
    assert.ok(cut > 0, 'no kill came in the middle')
    const store = openStore(database)
    await migrate(store, 0)
    await store.close()
    const server = await startServer(database)
    const api = new Placement(server.origin)
    await api.provider({ VCPU: 1 })
    await api.fsck()
    api.close()
    await server.stop()
  })
})

test('a migration on postgres changes no function of others, whatever the schema is called', async t => {
  const postgres = await sharedPostgres()
  const database = await postgres.createEmpty()
  const outside = new Client({ connectionString: database })
  t.after(async () => {
    await outside.end()
    await postgres.stop()
  })
  await outside.connect()
  await outside.query(`
    create schema "Our Ledger";
    alter database "${outside.database}" set search_path = "Our Ledger";
    create table "Our Ledger".jobs (id int);
    create function "Our Ledger".next_job() returns setof int language sql as
      'select id from "Our Ledger".jobs for update'`)
  const store = openStore(database)
  await migrate(store, 0)
  const findings = await checkEverything(store)
  await store.close()
  assert.deepEqual(
    findings.filter(({ violations }) => violations > 0),
    [],
  )
  const { rows } = await outside.query<{ proname: string }>(`select proname from pg_proc where prosrc ~* 'for update'`)
  assert.deepEqual(rows, [{ proname: 'next_job' }])
})
