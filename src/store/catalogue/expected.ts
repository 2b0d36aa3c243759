// What the migrations make, as checked in: `node scripts/catalogue.ts` writes it from databases that it migrates.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Dialect } from '../statement.ts'
import type { Catalogue } from './read.ts'
import { plainSql } from './sqlite.ts'

export interface Expected {
  /** The checksum of each migration, by its name. */
  migrations: Readonly<Record<string, string>>
  parts: Catalogue
}

export const expectedFile = (dialect: Dialect) => new URL(`./expected.${dialect}.json`, import.meta.url)

const read = new Map<Dialect, Expected>()

export function expectedOf(dialect: Dialect): Expected {
  return read.getOrInsertComputed(dialect, () => JSON.parse(readFileSync(expectedFile(dialect), 'utf8')) as Expected)
}

/** The same for a migration in which only a comment was mended. */
export const checksumOf = (text: string): string =>
  createHash('sha256').update(plainSql(text)).digest('hex').slice(0, 32)
