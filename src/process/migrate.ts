// Brings a database to this version: its schema, and the names that every OpenStack knows.
import { systemClock } from '../clock/clock.ts'
import { addStandardNames } from '../ledger/standard.ts'
import type { SchemaReport } from '../store/catalogue/compare.ts'
import { examineSchema } from '../store/catalogue/examine.ts'
import { keepMissingChecksums, migrate } from '../store/migrate.ts'
import type { Store } from '../store/store.ts'

/** A database whose schema is damaged is left as it is. */
export async function migrateStore(store: Store): Promise<{ applied: string[]; report: SchemaReport }> {
  const now = systemClock.now()
  const applied = await migrate(store, now)
  const report = await store.read(() => examineSchema(store.dialect))
  if (report.faults.length > 0) return { applied, report }
  if (report.lacksChecksums && !report.isNewer) await keepMissingChecksums(store)
  await store.write(() => addStandardNames(now))
  return { applied, report }
}
