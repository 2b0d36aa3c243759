// Invariants of times: none is absurd, and what has happened lies behind us.
import { sql } from 'kysely'
import { databaseNow } from '../clock/database-now.ts'
import type { Invariants } from '../store/fsck.ts'
import { TIME_COLUMNS } from '../store/schema/time-columns.ts'
import { query } from '../store/statement.ts'

/** Clocks of machines differ, and are set. Whoever is wrong by more confuses every order. */
const DRIFT_MS = 24 * 3_600_000
/** The last moment that a date can have in JavaScript: what is behind it can't be shown. */
const LAST_MS = 8.64e15

const countIn = (table: string, columns: readonly (readonly [string, string])[]) =>
  query((db, _: object, on) => {
    const parts = columns.map(([name, when]) => {
      const last =
        when === 'any'
          ? sql.lit(LAST_MS)
          : sql`(${databaseNow(on)} + ${sql.lit(DRIFT_MS)} + (select ahead_ms from test_clock))`
      return sql`select 1 from ${sql.table(table)} where ${sql.ref(name)} < 0 or ${sql.ref(name)} > ${last}`
    })
    return db
      .selectFrom(sql<object>`(${sql.join(parts, sql` union all `)})`.as('v'))
      .select(e => e.fn.countAll<number>().as('count'))
  })

export const timeInvariants: Invariants = Object.fromEntries(
  Object.entries(TIME_COLUMNS).map(([table, columns]) => [
    `every time in ${table} can be shown, and what has happened is not still to come`,
    countIn(table, Object.entries(columns)),
  ]),
)
