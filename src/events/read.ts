// Reads events from the log, in its order.
import { type Kept, pageFrom } from '../audit/order.ts'
import type { Read } from '../store/transaction.ts'
import { problem } from '../problems/problem.ts'
import { type Cursor, endOf, eventsOf, type HoldfastEvent, isAfter, textOf } from './event.ts'

export interface Page {
  readonly events: readonly HoldfastEvent[]
  /** Where the next page begins: after this. */
  readonly cursor: Cursor
  /** Whether there was nothing more when it was read. */
  readonly isLast: boolean
}

interface StoredPage extends Page {
  /** The ends of the log. */
  readonly kept: Kept
}

/** The events after a place, of at most `limit` entries. What was pruned is left out. */
export function* eventsAfter(after: Cursor, limit: number): Read<StoredPage> {
  const { rows, from, kept } = yield* pageFrom(after.sequence, limit)
  const end = endOf(Math.min(from + limit - 1, kept.newest))
  // In a transaction that writes, the second statement may see entries that came after the first: they are for the next page.
  const isOnPage = (event: HoldfastEvent) => isAfter(event, after) && !isAfter(event, end)
  const events = rows.flatMap(row => eventsOf(row.sequence, row)).filter(isOnPage)
  return { events, cursor: isAfter(end, after) ? end : after, isLast: from + limit > kept.newest, kept }
}

/** A reader that is before the log has missed something. One that is ahead of it comes from another database. */
export function requireKept(after: Cursor, { oldest, newest }: Kept): void {
  if (after.sequence === 0) return
  const facts = { after: textOf(after), details: { oldest: String(oldest), newest: String(newest) } }
  if (after.sequence < oldest - 1) throw problem('events_gone', facts)
  if (after.sequence > newest) throw problem('events_ahead', facts)
}
