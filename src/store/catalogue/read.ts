// What a database is made of: its tables, columns, constraints, indexes, triggers and functions, each by its name.
import { sql } from 'kysely'
import { type Dialect, query } from '../statement.ts'
import { one, type Read, together } from '../transaction.ts'
import { POSTGRES_CATALOGUE } from './postgres.ts'
import { partsOfSqlite, plainSql, SQLITE_SCHEMA, type SqliteRow } from './sqlite.ts'

/** How each part is defined, by its kind and name. */
export type Catalogue = Readonly<Record<string, string>>

/** By name: the checksum of what was applied; null if it was applied before checksums were kept. */
export type Applied = Readonly<Record<string, string | null>>

export const CATALOGUE: Record<Dialect, string> = { sqlite: SQLITE_SCHEMA, postgres: POSTGRES_CATALOGUE }
export type PartRow = SqliteRow | { name: string; definition: string }
export interface AppliedRow {
  name: string
  checksum: string | null
}

const parts = query((db, _: object, on) =>
  db.selectFrom(sql<PartRow>`(${sql.raw(CATALOGUE[on.dialect])})`.as('part')).selectAll(),
)

const applied = query(db => db.selectFrom(sql<AppliedRow>`migrations`.as('m')).select(['name', 'checksum']))

const names = query(db => db.selectFrom(sql<{ name: string }>`migrations`.as('m')).select('name'))

const migrationsTable = query((db, _: object, on) => {
  const found =
    on.dialect === 'sqlite' ? "exists (select 1 from sqlite_schema where name = 'migrations')" : POSTGRES_HAS
  return db.selectNoFrom(sql<number>`case when ${sql.raw(found)} then 1 else 0 end`.as('isThere'))
})
const POSTGRES_HAS = "to_regclass(quote_ident(current_schema()) || '.migrations') is not null"

/** The names of the migrations that were applied; none in a database that isn't ours yet. */
export function* appliedNames(): Read<string[]> {
  if (!(yield* one(migrationsTable({})))!.isThere) return []
  const [rows] = yield* together(names({}))
  return rows.map(({ name }) => name)
}

/** For a database that lacks no migration. */
export function* readCatalogue(): Read<{ applied: Applied; catalogue: Catalogue }> {
  const [found, migrations] = yield* together(parts({}), applied({}))
  return catalogueOf(found as PartRow[], migrations)
}

export const catalogueOf = (found: readonly PartRow[], migrations: readonly AppliedRow[]) => ({
  applied: Object.fromEntries(migrations.map(({ name, checksum }) => [name, checksum])) as Applied,
  catalogue: Object.fromEntries(
    found.flatMap(row => ('kind' in row ? partsOfSqlite(row) : [[row.name, plainSql(row.definition)]])),
  ) as Catalogue,
})
