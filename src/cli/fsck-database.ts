// Checks the invariants in the database itself, whether a server runs on it or not.
import { existsSync } from 'node:fs'
import type { Fsck } from '../client/index.ts'
import { type Config, UsageError } from '../config.ts'
import { checkEverything, unreadable } from '../fsck.ts'
import type { Finding } from '../ledger/fsck.ts'
import { pendingMigrations } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'

export async function fsckOfDatabase({ database }: Config): Promise<Fsck> {
  const file = database.startsWith('sqlite:') ? database.slice('sqlite:'.length) : null
  if (file !== null && !existsSync(file)) throw new UsageError(`there is no database file ${file}`)
  const invariants = await findingsIn(database).catch(error => [unreadable('the database can be opened', error)])
  return { violations: invariants.reduce((sum, { violations }) => sum + violations, 0), invariants }
}

async function findingsIn(database: string): Promise<Finding[]> {
  const store = openStore(database)
  try {
    const pending = await pendingMigrations(store)
    if (pending.length > 0) throw new UsageError('this database has no ledger of this version; run: holdfast migrate')
    return await checkEverything(store)
  } finally {
    await store.close()
  }
}
