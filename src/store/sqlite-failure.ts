// What SQLite's result codes mean to callers.
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../shared/limits.ts'
import { StoreDamaged, StoreUnavailable } from './failure.ts'

const BUSY = 5
/** The file is in use, or memory, disk or files fail: LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL. */
const AWAY = new Set([BUSY, 6, 7, 8, 10, 13, 14, 15])
/** CORRUPT, NOTADB. */
const DAMAGED = new Set([11, 26])

/** The low byte says what failed, the rest where. */
function codeOf(error: unknown): number | null {
  const { errcode } = error as { errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : null
}

export const isBusy = (error: unknown): boolean => codeOf(error) === BUSY

/** It was closed while someone waited for it. */
const isClosed = (error: unknown): boolean => (error as { code?: unknown }).code === 'ERR_INVALID_STATE'

/** The error as a failure of the store; null when the database works and the statement is wrong. */
export function failureOf(error: unknown, message: string): StoreUnavailable | null {
  if (error instanceof StoreUnavailable) return error
  if (isClosed(error)) return new StoreUnavailable('the database is closed', { cause: error })
  const code = codeOf(error)
  if (code === null) return null
  if (DAMAGED.has(code)) return new StoreDamaged('the database file is damaged', { cause: error })
  return AWAY.has(code) ? new StoreUnavailable(message, { cause: error }) : null
}

/** Throws it again, as what it means. */
export const asFailure = (message: string) => (error: unknown) => {
  throw failureOf(error, message) ?? error
}

/** Another process may lock the file for a while. Retries until it is free; other requests go on meanwhile. */
export async function whenFree<T>(attempt: () => T, failed: string): Promise<T> {
  const since = performance.now()
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() - since >= limits.busyMsMax) throw failureOf(error, failed) ?? error
    }
    await sleep(limits.busyRetryMs)
  }
}
