// Brings a database to this version's schema: numbered SQL files, one of each number for each database. Both databases
// can roll back DDL, so all pending migrations run in one transaction.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../shared/limits.ts'
import { StoreConflict, StoreUnavailable } from './failure.ts'
import type { Store } from './store.ts'

const FOLDER = new URL('./migrations/', import.meta.url)

/**
 * Applies the missing migrations and returns their names. On a database in use the locks of all tables may meet those of a
 * transaction in the other order; then nothing was changed, and it begins anew.
 */
export async function migrate(store: Store, now: number): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await migrateOnce(store, now)
    } catch (error) {
      if (!(error instanceof StoreConflict) || attempt === limits.migrationAttemptsMax) throw error
    }
    await sleep(limits.migrationRetryMs)
  }
}

function migrateOnce(store: Store, now: number): Promise<string[]> {
  return store.script(async run => {
    await run('create table if not exists migrations (name text primary key, applied_at text not null)')
    const pending = pendingOf(store, await run('select name from migrations'))
    for (const name of pending) {
      await run(readFileSync(new URL(`${name}.${store.dialect}.sql`, FOLDER), 'utf8'))
      await run(`insert into migrations values ('${name}', '${new Date(now).toISOString()}')`)
    }
    return pending
  })
}

/** The names of the migrations that this database still lacks. */
export async function pendingMigrations(store: Store): Promise<string[]> {
  try {
    return pendingOf(store, await store.script(run => run('select name from migrations')))
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    return pendingOf(store, [])
  }
}

function pendingOf(store: Store, applied: Record<string, unknown>[]): string[] {
  const known = new Set(applied.map(row => row['name']))
  return migrationsOf(store.dialect).filter(name => !known.has(name))
}

/** The names of all migrations that this version knows, in their order. */
export function migrationsOf(dialect: Store['dialect']): string[] {
  const ending = `.${dialect}.sql`
  return readdirSync(FOLDER)
    .filter(file => file.endsWith(ending))
    .map(file => file.slice(0, -ending.length))
    .sort()
}
