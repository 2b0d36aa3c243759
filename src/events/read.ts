// Reads events from the log, in its order.
import { entriesFrom, logEnds } from '../audit/order.ts'
import type { Read } from '../store/transaction.ts'
import { type Cursor, endOf, eventsOf, type HoldfastEvent, isAfter } from './event.ts'

export interface Page {
  readonly events: readonly HoldfastEvent[]
  /** Where the next page begins: after this. */
  readonly cursor: Cursor
  /** Whether there was nothing more when it was read. */
  readonly isLast: boolean
}

/** The events after a place, of at most `limit` entries. What was pruned is left out. */
export function* eventsAfter(after: Cursor, limit: number): Read<Page> {
  const { oldest, newest } = yield* logEnds()
  const from = Math.max(after.sequence, oldest)
  const rows = yield* entriesFrom(from, limit)
  const events = rows.flatMap(row => eventsOf(row.sequence, row)).filter(event => isAfter(event, after))
  const end = endOf(Math.min(from + limit - 1, newest))
  return { events, cursor: isAfter(end, after) ? end : after, isLast: from + limit > newest }
}
