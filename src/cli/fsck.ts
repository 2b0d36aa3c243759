// holdfast fsck
import { existsSync } from 'node:fs'
import { type Config, UsageError } from '../config.ts'
import { checkEverything } from '../fsck.ts'
import { pendingMigrations } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'

/** Prints each invariant with the number of its violations; fails when there is any. */
export async function fsck({ database }: Config): Promise<number> {
  const file = database.startsWith('sqlite:') ? database.slice('sqlite:'.length) : null
  if (file !== null && !existsSync(file)) throw new UsageError(`there is no database file ${file}`)
  const store = openStore(database)
  try {
    const pending = await pendingMigrations(store)
    if (pending.length > 0) throw new UsageError('this database has no ledger of this version; run: holdfast migrate')
    const findings = await checkEverything(store)
    for (const { invariant, violations } of findings) {
      process.stdout.write(`${String(violations).padStart(8)}  ${invariant}\n`)
    }
    const total = findings.reduce((sum, { violations }) => sum + violations, 0)
    process.stdout.write(`${String(total).padStart(8)}  violations in all\n`)
    return total === 0 ? 0 : 1
  } finally {
    await store.close()
  }
}
