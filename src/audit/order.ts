// The log in its order: each entry has a place, by which listeners go on and seals follow each other.
import { type Compilable, type Kysely, type RawBuilder, sql } from 'kysely'
import type { LogRow } from '../store/log.ts'
import type { Schema } from '../store/schema.ts'
import { query, type Tools } from '../store/statement.ts'
import { all, one, type Read, together } from '../store/transaction.ts'

export interface AuditRow extends LogRow {
  id: number
}

/** An entry with its place. */
interface PlacedRow extends AuditRow {
  sequence: number
}

const FIELDS = [
  'id',
  'at',
  'request_id',
  'user_id',
  'project_id',
  'roles',
  'address',
  'action',
  'objects',
  'outcome',
] as const

/** On SQLite the id is the place. */
const byId = (db: Kysely<Schema>, from: RawBuilder<number>, limit: RawBuilder<number>) =>
  db
    .selectFrom('log')
    .select(sql<number>`id`.as('sequence'))
    .where(sql<boolean>`id >= ${from} and id < ${from} + ${limit}`)
    .orderBy('id')

/** The entries of `limit` places from one on. */
const placed = (db: Kysely<Schema>, on: Tools, from: RawBuilder<number>, limit: RawBuilder<number>) => {
  if (on.dialect === 'sqlite') return byId(db, from, limit).select(FIELDS)
  // A row of the order has at least one place, so no more rows than places are looked at: else all to the end of the log
  // would be. `offset 0` keeps the planner from reading the entries first.
  return db
    .selectFrom(
      sql<AuditRow & { sequence: number }>`(
        select l.*, o.first + e.ordinality - 1 as sequence
        from (select first, entries from log_order where last >= ${from} order by last limit ${limit}) as o
          cross join lateral unnest(o.entries) with ordinality as e(id, ordinality)
          cross join lateral (select * from log where log.id = e.id offset 0) as l
        where o.first < ${from} + ${limit}
          and o.first + e.ordinality - 1 >= ${from} and o.first + e.ordinality - 1 < ${from} + ${limit})`.as('l'),
    )
    .select([...FIELDS, 'sequence'])
}
const bigint = (value: number) => sql<number>`cast(${value} as bigint)`

const placedFrom = query((db, a: { from: number; limit: number }, on) =>
  placed(db, on, bigint(a.from), bigint(a.limit)),
)

/** The fields of an entry in their order, as JSON: this is what is sealed. */
export const canonical = (row: AuditRow): string => JSON.stringify(FIELDS.map(field => row[field]))

type Unsealed = PlacedRow | { id: number; sequence: number; canonical: string }

/** What the next seal covers. SQLite writes the same JSON as we do, in less time than it takes to read the fields. */
export const unsealed = query((db, a: { limit: number }, on): Compilable<Unsealed> => {
  const [from, limit] = [sql<number>`(select head_last + 1 from audit_chain)`, bigint(a.limit)]
  if (on.dialect === 'postgres') return placed(db, on, from, limit)
  const text = sql<string>`json_array(${sql.join(FIELDS.map(field => sql.ref(field)))})`
  return byId(db, from, limit).select(['id', text.as('canonical')])
})

/** The ends of the log. */
export const ends = query((db, _: object) =>
  db
    .selectFrom(['log_head', 'audit_chain'])
    .select(e => [sql<number>`${e.ref('anchor_last')} + 1`.as('oldest'), 'log_head.last as newest'])
    .where('audit_chain.one', '=', 1),
)

/** The entries from a place on, of the next `limit` places. Some places may be empty. */
export function* entriesFrom(from: number, limit: number): Read<PlacedRow[]> {
  return inOrder(yield* all(placedFrom({ from, limit })))
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
  const [[kept], found] = yield* together(ends({}), placedFrom({ from, limit }))
  if (from < kept!.oldest) return yield* pageFrom(kept!.oldest, limit)
  return { rows: inOrder(found), from, kept: kept! }
}

/** The databases find them in this order, but PostgreSQL doesn't promise it. */
export const inOrder = <Row extends { sequence: number }>(rows: Row[]): Row[] =>
  rows.sort((a, b) => a.sequence - b.sequence)

export function* logEnds(): Read<Kept> {
  return (yield* one(ends({})))!
}
