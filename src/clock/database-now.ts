// The database's clock, inside of a statement.
import { type RawBuilder, sql } from 'kysely'
import type { Tools } from '../store/statement.ts'

/** Milliseconds since 1970 by the database's clock. */
export const databaseNow = (on: Tools): RawBuilder<number> =>
  on.dialect === 'sqlite'
    ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
    : sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
