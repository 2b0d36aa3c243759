// The log in its order: each entry has a place, by which listeners go on and seals follow each other.
import { sql } from 'kysely'
import { jsonIn, type JsonText } from '../shared/json.ts'
import type { LogRow } from '../store/log.ts'
import { query } from '../store/statement.ts'
import { all, one, type Read, together } from '../store/transaction.ts'

export interface AuditRow extends LogRow {
  id: number
}

/** An entry with its place. */
interface PlacedRow extends AuditRow {
  sequence: number
}

const placesFrom = query((db, a: { from: number; limit: number }, on) =>
  db
    .selectFrom('log_order')
    .select('first')
    .select(
      (on.dialect === 'sqlite' ? sql`entries` : sql`to_json(entries)::text`)
        .$castTo<JsonText<number[]>>()
        .as('entries'),
    )
    .where('last', '>=', a.from)
    .where(sql<boolean>`first < cast(${a.from} as bigint) + cast(${a.limit} as bigint)`)
    .orderBy('last'),
)
const entriesOf = query((db, a: { ids: readonly number[] }, on) =>
  db
    .selectFrom('log')
    .select(['id', 'at', 'request_id', 'user_id', 'project_id', 'roles', 'address', 'action', 'objects', 'outcome'])
    .where(on.isIn('id', a.ids, 'bigint')),
)
/** The ends of the log. */
export const ends = query((db, _: object) =>
  db
    .selectFrom(['log_head', 'audit_chain'])
    .select(e => [sql<number>`${e.ref('anchor_last')} + 1`.as('oldest'), 'log_head.last as newest'])
    .where('audit_chain.one', '=', 1),
)

/** The entries from a place on, of the next `limit` places. Some places may be empty. */
export function* entriesFrom(from: number, limit: number): Read<PlacedRow[]> {
  return yield* entriesAt(yield* all(placesFrom({ from, limit })), from, limit)
}

export interface Kept {
  /** The places of the oldest and the newest entry. When there is none, the newest comes before the oldest. */
  readonly oldest: number
  readonly newest: number
}

interface LogPage {
  rows: PlacedRow[]
  /** Where it begins: some that were asked for may be pruned. */
  from: number
  kept: Kept
}

/** Like entriesFrom, but of what is kept; with its ends, in as few bursts as can be, since listeners wait for it. */
export function* pageFrom(from: number, limit: number): Read<LogPage> {
  const [[kept], runs] = yield* together(ends({}), placesFrom({ from, limit }))
  if (from < kept!.oldest) return yield* pageFrom(kept!.oldest, limit)
  return { rows: yield* entriesAt(runs, from, limit), from, kept: kept! }
}

type Run = { first: number; entries: JsonText<number[]> }

function* entriesAt(runs: readonly Run[], from: number, limit: number): Read<PlacedRow[]> {
  const places = runs.flatMap(({ first, entries }) => jsonIn(entries).map((id, i) => ({ id, sequence: first + i })))
  const asked = places.filter(({ sequence }) => sequence >= from && sequence < from + limit)
  if (asked.length === 0) return []
  const found = yield* all(entriesOf({ ids: asked.map(({ id }) => id) }))
  const byId = new Map(found.map(row => [row.id, row]))
  return asked.flatMap(({ id, sequence }) => {
    const row = byId.get(id)
    return row ? [{ ...row, sequence }] : []
  })
}

export function* logEnds(): Read<Kept> {
  return (yield* one(ends({})))!
}
