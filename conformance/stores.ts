// Gives every gabbi file an empty, migrated database, on SQLite or on PostgreSQL.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { holdfast, runCommand } from '../bench/server.ts'
import { startPostgres } from '../test/support/postgres.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type StoreName = (typeof STORES)[number]

export interface Store {
  name: string
  /** A database of its own for one file. */
  database(): Promise<string>
  stop(): Promise<void>
}

/** Migrating once and copying is quicker than migrating for every file. */
export function openStore(name: StoreName): Promise<Store> {
  return name === 'sqlite' ? openSqlite() : openPostgres()
}

/** For another server: it gets an empty folder. */
export function openFolders(): Store {
  const { folder, remove } = temporaryFolder()
  return { name: 'server', database: async () => mkdtempSync(join(folder, 'data-')), stop: async () => remove() }
}

async function openSqlite(): Promise<Store> {
  const { folder, remove } = temporaryFolder()
  const template = join(folder, 'template.db')
  await migrate(`sqlite:${template}`)
  let count = 0
  return {
    name: 'sqlite',
    async database() {
      const file = join(folder, `${count++}.db`)
      copyFileSync(template, file)
      return `sqlite:${file}`
    },
    stop: async () => remove(),
  }
}

async function openPostgres(): Promise<Store> {
  const server = await startPostgres()
  await migrate(await server.createDatabase('template'))
  return {
    name: 'postgres',
    database: () => server.createDatabase(undefined, 'template'),
    stop: () => server.stop(),
  }
}

function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  return { folder, remove }
}

async function migrate(database: string) {
  const { status, output } = await runCommand([holdfast, 'migrate', '--database', database])
  if (status !== 0) throw new Error(`holdfast migrate --database ${database} ended with ${status}: ${output}`)
}
