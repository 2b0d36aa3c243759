// Opens the store that a database address names.
import { UsageError } from '../shared/usage-error.ts'
import { StoreDamaged } from './failure.ts'
import { PostgresStore } from './postgres.ts'
import type { Dial } from './session.ts'
import { failureOf } from './sqlite-failure.ts'
import { IN_MEMORY, lockForServing, realFile } from './sqlite-file.ts'
import { SqliteStore } from './sqlite.ts'
import { SILENT, type Store, type StoreObserver } from './store.ts'

interface OpenOptions {
  observer?: StoreObserver
  /** Makes this process the only one that serves a database file. */
  serving?: boolean
  connections?: number
  /** Names this process to the others. */
  origin?: string
  /** Makes the connections to PostgreSQL. */
  dial?: Dial
  /** SQLite has no threads of its own. */
  isOneThread?: boolean
}

export function openStore(address: string, options: OpenOptions = {}): Store {
  const { observer = SILENT, serving = false, isOneThread = false } = options
  if (!address.startsWith('sqlite:')) return new PostgresStore(address, options)
  let lock: ReturnType<typeof lockForServing> | null = null
  try {
    const path = realFile(address.slice('sqlite:'.length))
    if (serving && path !== IN_MEMORY) lock = lockForServing(path)
    return new SqliteStore(path, { observer, lock, isOneThread })
  } catch (error) {
    lock?.close()
    const message = `can't open the database ${address}: ${(error as Error).message}`
    if (failureOf(error, message) instanceof StoreDamaged) throw new StoreDamaged(message, { cause: error })
    throw new UsageError(message, { cause: error })
  }
}
