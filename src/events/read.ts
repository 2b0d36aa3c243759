// Reads events from the log, in its order.
import { sql } from 'kysely'
import { query } from '../store/statement.ts'
import { all, one, type Read } from '../store/transaction.ts'
import { type Cursor, endOf, eventsOf, type HoldfastEvent, isAfter } from './event.ts'

const entriesFrom = query((db, a: { from: number; limit: number }) =>
  db
    .selectFrom('audit')
    .select(['id as sequence', 'at', 'user_id', 'project_id', 'request_id', 'objects'])
    .where('id', '>=', a.from)
    .orderBy('id')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const ends = query((db, _: object) =>
  db
    .selectFrom('audit')
    .select(e => [
      e.fn.coalesce(e.fn.min<number>('id'), sql<number>`0`).as('oldest'),
      e.fn.coalesce(e.fn.max<number>('id'), sql<number>`0`).as('newest'),
    ]),
)

export interface Page {
  readonly events: readonly HoldfastEvent[]
  /** Where the next page begins: after this. */
  readonly cursor: Cursor
  /** Whether there was nothing more when it was read. */
  readonly isLast: boolean
}

/** The events after a place, of at most `limit` entries. */
export function* eventsAfter(after: Cursor, limit: number): Read<Page> {
  const rows = yield* all(entriesFrom({ from: after.sequence, limit }))
  const events = rows.flatMap(row => eventsOf(row.sequence, row)).filter(event => isAfter(event, after))
  const last = rows.at(-1)
  return { events, cursor: last ? endOf(last.sequence) : after, isLast: rows.length < limit }
}

/** The oldest and the newest entry that are kept; zeros when there is none. */
export function* logEnds(): Read<{ oldest: number; newest: number }> {
  return (yield* one(ends({})))!
}
