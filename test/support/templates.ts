// Migrated databases that tests copy, because a migration takes many times as long as a copy.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateStore } from '../../src/process/migrate.ts'
import { openStore } from '../../src/store/open.ts'

/** Does what `holdfast migrate` does. */
export async function migrateDatabase(address: string): Promise<void> {
  const store = openStore(address)
  try {
    await migrateStore(store)
  } finally {
    await store.close()
  }
}

let made: Promise<string> | null = null

/** The path of a migrated SQLite file: that of the test run, or a new one if a file runs by itself. */
export function sqliteTemplate(): Promise<string> {
  const shared = process.env['HOLDFAST_TEST_SQLITE']
  return (made ??= shared === undefined ? makeSqliteTemplate() : Promise.resolve(shared))
}

async function makeSqliteTemplate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-template-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'template.db')
  await migrateDatabase(`sqlite:${file}`)
  return file
}
