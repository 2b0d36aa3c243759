// Pages of a list, made by the database: sorted by any column, then by id. Null counts as the smallest value.
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'

interface Order {
  /** The table as the statement calls it. */
  table: string
  key: string
  isText: boolean
  descending: boolean
}

/** The last row of the page before. */
export interface Marker {
  markerId: number | null
  markerValue: string | number | null
}

/** SQL: the row comes after the marker. */
export function afterMarker({ table, key, isText, descending }: Order, a: Marker): RawBuilder<boolean> {
  const beyond = sql.raw(descending ? '<' : '>')
  const id = sql.ref(`${table}.id`)
  if (key === 'id') return sql<boolean>`${id} ${beyond} ${a.markerId}`
  const column = sql.ref(`${table}.${key}`)
  const value = sql`cast(${a.markerValue} as ${sql.raw(isText ? 'text' : 'bigint')})`
  const further = descending
    ? sql`(${column} < ${value} or (${column} is null and ${value} is not null))`
    : sql`(${column} > ${value} or (${column} is not null and ${value} is null))`
  const equal = sql`(${column} = ${value} or (${column} is null and ${value} is null))`
  return sql<boolean>`(${further} or (${equal} and ${id} ${beyond} ${a.markerId}))`
}

export function inOrder<DB, TB extends keyof DB, O>(
  select: SelectQueryBuilder<DB, TB, O>,
  { table, key, descending }: Order,
): SelectQueryBuilder<DB, TB, O> {
  const direction = sql.raw(descending ? 'desc nulls last' : 'asc nulls first')
  const sorted = key === 'id' ? select : select.orderBy(sql`${sql.ref(`${table}.${key}`)} ${direction}`)
  return sorted.orderBy(sql.ref(`${table}.id`), descending ? 'desc' : 'asc')
}
