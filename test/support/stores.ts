// Runs the same tests on SQLite and on PostgreSQL, each with a database of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { Placement } from './placement.ts'
import { sharedPostgres } from './postgres.ts'
import { type Server, spawnServer, startServer } from './server.ts'

export type Kind = 'sqlite' | 'postgres'

export interface Databases {
  kind: Kind
  /** The address of a new, empty database. */
  create: () => Promise<string>
}

/** One group of tests for each kind of database. */
export function eachDatabase(name: string, body: (databases: Databases) => void): void {
  for (const kind of ['sqlite', 'postgres'] as const) {
    describe(`${name} on ${kind}`, () => {
      const source = kind === 'sqlite' ? sqliteFiles() : postgresDatabases()
      before(() => source.open())
      body({ kind, create: () => source.create() })
      after(() => source.close())
    })
  }
}

/** One group of tests for each kind of database, with a server on it that they share. */
export function eachStore(
  name: string,
  body: (api: Placement, kind: Kind) => void,
  settings: Partial<Config> = {},
): void {
  eachDatabase(name, databases => {
    body(
      servedBy(async () => [await startServer(await databases.create(), settings)]),
      databases.kind,
    )
  })
}

/** As eachStore, and once more with two processes on one PostgreSQL, which take the requests in turn. */
export function eachRace(name: string, body: (api: Placement) => void): void {
  eachStore(name, body)
  describe(`${name} on postgres with two servers`, () => {
    const source = postgresDatabases()
    before(() => source.open())
    const start = async () => {
      const database = await source.create()
      return [await spawnServer(database), await spawnServer(database)]
    }
    body(servedBy(start))
    after(() => source.close())
  })
}

function servedBy(start: () => Promise<Server[]>): Placement {
  const api = new Placement()
  let servers: Server[] = []
  before(async () => {
    servers = await start()
    api.origins = servers.map(server => server.origin)
  })
  after(async () => {
    api.close()
    for (const server of servers) await server.stop()
  })
  return api
}

function sqliteFiles() {
  let folder = ''
  let files = 0
  return {
    open: async () => void (folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'))),
    create: async () => `sqlite:${join(folder, `${++files}.db`)}`,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

function postgresDatabases() {
  let server: Awaited<ReturnType<typeof sharedPostgres>>
  return {
    open: async () => void (server = await sharedPostgres()),
    create: () => server.createDatabase(),
    close: async () => server?.stop(),
  }
}
