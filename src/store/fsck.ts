// Invariants are queries that count violations: the tools to write them, and the invariants of the databases.
import { sql } from 'kysely'
import { type Dialect, query } from './statement.ts'
import { one, type Read } from './transaction.ts'

/** Turns a query that finds one row for each violation into one that counts them. */
export const count = (violations: string) =>
  query(db =>
    db.selectFrom(sql<object>`(${sql.raw(violations)})`.as('v')).select(e => e.fn.countAll<number>().as('count')),
  )

/** By name: what each invariant promises. */
export type Invariants = Record<string, ReturnType<typeof count>>

export interface Finding {
  invariant: string
  violations: number
}

/** A column that refers to another table, and the column that it refers to. */
type Reference = readonly [from: `${string}.${string}`, to: `${string}.${string}`]

/** Rows that refer to something that isn't there: constraints forbid it, unless they were switched off. */
export const danglings = (...references: Reference[]) =>
  count(
    references
      .map(([from, to]) => {
        const [table, parent] = [from.split('.')[0]!, to.split('.')[0]!]
        return `select 1 from ${table} where ${from} is not null and not exists (
          select 1 from ${parent} as target where target.${to.split('.')[1]!} = ${from})`
      })
      .join(' union all '),
  )

/** UUIDs with capitals: as texts they differ, so they would name something else. */
export const capitals = (...columns: `${string}.${string}`[]) =>
  count(columns.map(name => `select 1 from ${name.split('.')[0]!} where ${name} <> lower(${name})`).join(' union all '))

export function* violationsOf(invariant: Invariants[string]): Read<number> {
  return (yield* one(invariant({})))!.count
}

export const databaseInvariants: Record<Dialect, Invariants> = {
  sqlite: {
    'the database file is whole, and its rows keep the constraints (integrity_check)': count(`
      select 1 from pragma_integrity_check where integrity_check <> 'ok'`),
    'every reference leads somewhere (foreign_key_check)': count(`
      select 1 from pragma_foreign_key_check`),
  },
  // Whether constraints and triggers are in force is a question of the schema.
  postgres: {},
}
