// Runs the same tests on SQLite and on PostgreSQL, each with its own database.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { Placement } from './placement.ts'
import { type SharedPostgres, sharedPostgres } from './postgres.ts'
import { type Server, spawnServer, startServer } from './server.ts'
import { sqliteTemplate } from './templates.ts'

export type Kind = 'sqlite' | 'postgres'

export interface Databases {
  kind: Kind
  /** The address of a new database, migrated and without data. */
  create: () => Promise<string>
  /** The address of a new database without tables; on SQLite without a file. */
  createEmpty: () => Promise<string>
}

const KINDS: readonly Kind[] = ['sqlite', 'postgres']

/** The runner may want one of them in this part of the tests, and the other one in another (files.ts). */
const kindsToRun = (kinds: readonly Kind[]) => {
  const only = process.env['HOLDFAST_TEST_ONLY']
  return only === undefined ? kinds : kinds.filter(kind => kind === only)
}

/** One group of tests for each kind of database. */
export function eachDatabase(name: string, body: (databases: Databases) => void, kinds = KINDS): void {
  // A group that is about one kind always runs.
  for (const kind of kinds.length === 1 ? kinds : kindsToRun(kinds)) {
    describe(`${name} on ${kind}`, () => {
      const source = kind === 'sqlite' ? sqliteFiles() : postgresDatabases()
      before(() => source.open())
      body({ kind, create: () => source.create(), createEmpty: () => source.createEmpty() })
      after(() => source.close())
    })
  }
}

/** One group of tests for each kind of database, with a server on it that they share. */
export function eachStore(
  name: string,
  body: (api: Placement, kind: Kind) => void,
  settings: Partial<Config> = {},
  kinds = KINDS,
): void {
  const serve = (databases: Databases) => {
    const start = async (started: Server[]) => {
      started.push(await startServer(await databases.create(), settings))
    }
    body(servedBy(start), databases.kind)
  }
  eachDatabase(name, serve, kinds)
}

/** Like eachStore, and once more with two servers on one PostgreSQL, which get the requests in turn. */
export function eachRace(name: string, body: (api: Placement) => void): void {
  eachStore(name, body)
  describe(`${name} on postgres with two servers`, () => {
    const source = postgresDatabases()
    before(() => source.open())
    const start = async (started: Server[]) => {
      const database = await source.create()
      for (let i = 0; i < 2; i++) started.push(await spawnServer(database))
    }
    body(servedBy(start))
    after(() => source.close())
  })
}

/** Stops all servers that were started, even if a later one fails to start. */
function servedBy(start: (started: Server[]) => Promise<void>): Placement {
  const api = new Placement()
  const servers: Server[] = []
  before(async () => {
    await start(servers)
    api.origins = servers.map(server => server.origin)
  })
  after(async () => {
    api.close()
    for (const server of servers) await server.stop()
  })
  return api
}

/** The address of a new SQLite database in the folder, migrated and without data. */
export async function sqliteCopy(folder: string): Promise<string> {
  const file = join(folder, `${crypto.randomUUID()}.db`)
  copyFileSync(await sqliteTemplate(), file)
  return `sqlite:${file}`
}

function sqliteFiles() {
  let folder = ''
  return {
    open: async () => void (folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))),
    create: () => sqliteCopy(folder),
    createEmpty: async () => `sqlite:${join(folder, `${crypto.randomUUID()}.db`)}`,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

function postgresDatabases() {
  let server: SharedPostgres
  return {
    open: async () => void (server = await sharedPostgres()),
    create: () => server.createDatabase(),
    createEmpty: () => server.createEmpty(),
    close: async () => server?.stop(),
  }
}
