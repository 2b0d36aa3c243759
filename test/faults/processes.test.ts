// Each kind of process is killed or put to sleep under load: what was answered stays, and the others go on.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sharedPostgres } from '../support/postgres.ts'
import { sqliteCopy } from '../support/stores.ts'
import { nothingIsLost } from './load.ts'
import { type FaultyProcess, startConducting, startServing, TAKE_OVER_MS } from './processes.ts'

/** Longer than others wait for it. */
const LONG_SLEEP_MS = TAKE_OVER_MS * 1.5

const killed = async (one: FaultyProcess) => {
  await one.kill9()
  await one.revive()
}

describe('on PostgreSQL, with two API processes and two conductors', () => {
  let databases: Awaited<ReturnType<typeof sharedPostgres>>
  const apis: FaultyProcess[] = []
  const conductors: FaultyProcess[] = []
  before(async () => {
    databases = await sharedPostgres()
    const database = await databases.createDatabase()
    for (let i = 0; i < 2; i++) {
      conductors.push(await startConducting(database, `conductor-${i}`))
      apis.push(await startServing('api', database))
    }
  })
  after(async () => {
    for (const one of [...apis, ...conductors]) await one.end()
    await databases?.stop()
  })

  const faults: Record<string, () => Promise<unknown>> = {
    'an API process is killed': () => killed(apis[0]!),
    'a conductor is killed': () => killed(conductors[0]!),
    'all processes are killed at once': () => Promise.all([...apis, ...conductors].map(killed)),
    'an API process sleeps, and wakes': () => apis[0]!.sleepFor(LONG_SLEEP_MS),
    'a conductor sleeps until others have its work, and wakes': () => conductors[0]!.sleepFor(LONG_SLEEP_MS),
  }
  for (const [name, fault] of Object.entries(faults)) {
    test(name, t => nothingIsLost(t, apis, fault))
  }
})

describe('on SQLite, with one process for all', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-processes-'))
  let server: FaultyProcess
  before(async () => void (server = await startServing('serve', await sqliteCopy(folder))))
  after(async () => {
    await server?.end()
    rmSync(folder, { recursive: true, force: true })
  })

  test('it is killed', t => nothingIsLost(t, [server], () => killed(server)))
  test('it sleeps, and wakes', t => nothingIsLost(t, [server], () => server.sleepFor(LONG_SLEEP_MS)))
})
