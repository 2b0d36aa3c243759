// What each database knows about its own state, as queries that count what is wrong.
import { sql } from 'kysely'
import { type Dialect, query } from './statement.ts'

/** A query that finds one row for each violation, made one that counts them. */
export const count = (violations: string) =>
  query(db =>
    db.selectFrom(sql<object>`(${sql.raw(violations)})`.as('v')).select(e => e.fn.countAll<number>().as('count')),
  )

/** Each by what it promises. */
export type Invariants = Record<string, ReturnType<typeof count>>

const HERE = 'current_schema()::regnamespace'

export const databaseInvariants: Record<Dialect, Invariants> = {
  sqlite: {
    'the database file is whole, and its rows keep the constraints (integrity_check)': count(`
      select 1 from pragma_integrity_check where integrity_check <> 'ok'`),
    'every reference leads somewhere (foreign_key_check)': count(`
      select 1 from pragma_foreign_key_check`),
  },
  postgres: {
    // A restore that was broken off may leave them switched off.
    'every constraint, index and trigger is in force': count(`
      select 1 from pg_constraint where connamespace = ${HERE} and not convalidated
      union all
      select 1 from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace = ${HERE} and not i.indisvalid
      union all
      select 1 from pg_trigger t join pg_class c on c.oid = t.tgrelid where c.relnamespace = ${HERE} and t.tgenabled = 'D'`),
  },
}
