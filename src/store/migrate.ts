// Brings a database to this version's schema: numbered SQL files, one of each number for each database. Both databases
// can roll back DDL, so all pending migrations run in one transaction.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../shared/limits.ts'
import { checksumOf } from './catalogue/expected.ts'
import { appliedNames } from './catalogue/read.ts'
import { UsageError } from '../shared/usage-error.ts'
import { StoreConflict, StoreUnavailable } from './failure.ts'
import type { Dialect } from './statement.ts'
import type { RunSql, Store } from './store.ts'

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

async function migrateOnce(store: Store, now: number): Promise<string[]> {
  // A database that is up to date can be served while it takes no writes.
  if ((await pendingMigrations(store)).length === 0) return []
  let at = ''
  const applying = store.script(async run => {
    await run('create table if not exists migrations (name text primary key, applied_at text not null)')
    const applied = await run('select name from migrations')
    const pending = pendingOf(
      store,
      applied.map(row => String(row['name'])),
    )
    for (const name of pending) {
      at = name
      await run(readFileSync(migrationFile(name, store.dialect), 'utf8'))
      await run(`insert into migrations (name, applied_at) values ('${name}', '${new Date(now).toISOString()}')`)
    }
    // After all of them, because one of them makes the column.
    await keepChecksums(run, store.dialect, pending)
    return pending
  })
  return applying.catch(error => {
    if (error instanceof StoreConflict || error instanceof StoreUnavailable || at === '') throw error
    const message = `the migration ${at} can't be applied to this database, which is as it was: ${(error as Error).message}`
    throw new UsageError(message, { cause: error })
  })
}

/** Takes it for certain that all migrations were applied as they are: the schema is what they make. */
export const keepMissingChecksums = (store: Store): Promise<void> =>
  store.script(run => keepChecksums(run, store.dialect, migrationsOf(store.dialect)))

async function keepChecksums(run: RunSql, dialect: Dialect, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const checksum = checksumOf(readFileSync(migrationFile(name, dialect), 'utf8'))
    await run(`update migrations set checksum = '${checksum}' where name = '${name}' and checksum is null`)
  }
}

/** The names of the migrations that this database still lacks. */
export async function pendingMigrations(store: Store): Promise<string[]> {
  return pendingOf(store, await store.read(appliedNames))
}

function pendingOf(store: Store, applied: readonly string[]): string[] {
  const known = new Set(applied)
  return migrationsOf(store.dialect).filter(name => !known.has(name))
}

/** The names of all migrations that this version knows, in their order. */
export function migrationsOf(dialect: Dialect): string[] {
  const ending = `.${dialect}.sql`
  return readdirSync(FOLDER)
    .filter(file => file.endsWith(ending))
    .map(file => file.slice(0, -ending.length))
    .sort()
}

export const migrationFile = (name: string, dialect: Dialect) => new URL(`${name}.${dialect}.sql`, FOLDER)
