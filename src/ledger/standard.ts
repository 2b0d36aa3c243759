// The resource classes and traits that every OpenStack knows; scripts/standard-names.py makes the lists.
import { readFileSync } from 'node:fs'
import { bulk } from '../store/statement.ts'
import { runAll, type Write } from '../store/transaction.ts'

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`./standard/${name}.json`, import.meta.url), 'utf8')) as string[]

export const standardClasses: readonly string[] = read('resource-classes')
export const standardTraits: readonly string[] = read('traits')

export const isCustom = (name: string) => name.startsWith('CUSTOM_')

interface NewName {
  name: string
  created_at: number
}

const addNames = (table: 'resource_classes' | 'traits') =>
  bulk<NewName>({ name: 'text', created_at: 'bigint' }, (db, r, on) =>
    on.insert(db.insertInto(table), { name: r.name, created_at: r.created_at }).onConflict(c => c.doNothing()),
  )
const addClasses = addNames('resource_classes')
const addTraits = addNames('traits')

/** Adds the standard names that this database doesn't have yet. */
export function* addStandardNames(now: number): Write<void> {
  const rows = (names: readonly string[]) => names.map(name => ({ name, created_at: now }))
  yield* runAll([addClasses({ rows: rows(standardClasses) }), addTraits({ rows: rows(standardTraits) })])
}
