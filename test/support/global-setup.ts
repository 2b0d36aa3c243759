// Starts one PostgreSQL for a whole test run; every test file inherits its address and makes databases of its own in it.
import { startPostgres, type Postgres } from './postgres.ts'

let server: Postgres | undefined

export async function globalSetup() {
  server = await startPostgres()
  process.env['HOLDFAST_TEST_POSTGRES'] = server.url('postgres')
}

export async function globalTeardown() {
  await server?.stop()
}
