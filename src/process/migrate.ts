// Brings a database to this version: its schema, and the names that every OpenStack knows.
import { systemClock } from '../clock/clock.ts'
import { addStandardNames } from '../ledger/standard.ts'
import { migrate } from '../store/migrate.ts'
import type { Store } from '../store/store.ts'

export async function migrateStore(store: Store): Promise<string[]> {
  const now = systemClock.now()
  const applied = await migrate(store, now)
  await store.write(() => addStandardNames(now))
  return applied
}
