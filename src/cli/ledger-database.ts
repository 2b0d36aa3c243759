// Opens the ledger's database for a command, with or without a running server. Never creates or migrates it.
import { existsSync } from 'node:fs'
import { UsageError } from '../shared/usage-error.ts'
import { pendingMigrations } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'

const SQLITE = 'sqlite:'

export async function withLedger<T>(database: string, work: (store: Store) => Promise<T>): Promise<T> {
  const file = database.startsWith(SQLITE) ? database.slice(SQLITE.length) : null
  if (file !== null && !existsSync(file)) throw new UsageError(`there is no database file ${file}`)
  const store = openStore(database)
  try {
    const pending = await pendingMigrations(store)
    if (pending.length > 0) throw new UsageError('this database has no ledger of this version; run: holdfast migrate')
    return await work(store)
  } finally {
    await store.close()
  }
}
