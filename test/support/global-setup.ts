// Starts one PostgreSQL for a whole test run, and creates the templates. Test files inherit their addresses.
import { type Postgres, startPostgres, TEMPLATE } from './postgres.ts'
import { migrateDatabase, sqliteTemplate } from './templates.ts'

let server: Postgres | undefined

export async function globalSetup() {
  server = await startPostgres()
  await migrateDatabase(await server.createDatabase(TEMPLATE))
  process.env['HOLDFAST_TEST_POSTGRES'] = server.url('postgres')
  process.env['HOLDFAST_TEST_SQLITE'] = await sqliteTemplate()
}

export async function globalTeardown() {
  await server?.stop()
}
