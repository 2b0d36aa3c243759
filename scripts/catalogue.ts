// Writes src/store/catalogue/expected.*.json, which a database is compared with: node scripts/catalogue.ts
// To be run after each change of src/store/migrations. It starts a PostgreSQL for it.
import { readFileSync, writeFileSync } from 'node:fs'
import { type Catalogue, readCatalogue } from '../src/store/catalogue/read.ts'
import { checksumOf, expectedFile } from '../src/store/catalogue/expected.ts'
import { migrate, migrationFile, migrationsOf } from '../src/store/migrate.ts'
import { openStore } from '../src/store/open.ts'
import type { Dialect } from '../src/store/statement.ts'
import { startPostgres } from '../test/support/postgres.ts'

export const COMMAND = 'node scripts/catalogue.ts'

export const checksums = (dialect: Dialect): Record<string, string> =>
  Object.fromEntries(
    migrationsOf(dialect).map(name => [name, checksumOf(readFileSync(migrationFile(name, dialect), 'utf8'))]),
  )

/** What an empty database at this address becomes. */
export async function catalogueAt(address: string): Promise<Catalogue> {
  const store = openStore(address)
  try {
    await migrate(store, 0)
    const { catalogue } = await store.read(readCatalogue)
    return Object.fromEntries(Object.entries(catalogue).sort(([one], [other]) => (one < other ? -1 : 1)))
  } finally {
    await store.close()
  }
}

if (import.meta.main) {
  const postgres = await startPostgres()
  try {
    const addresses = { sqlite: 'sqlite::memory:', postgres: await postgres.createDatabase() }
    for (const dialect of ['sqlite', 'postgres'] as const) {
      const expected = { migrations: checksums(dialect), parts: await catalogueAt(addresses[dialect]) }
      writeFileSync(expectedFile(dialect), `${JSON.stringify(expected, null, 2)}\n`)
    }
  } finally {
    await postgres.stop()
  }
}
