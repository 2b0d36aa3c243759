// The resource classes and traits that every OpenStack knows; scripts/standard-names.py makes the lists.
import { readFileSync } from 'node:fs'
import { command, everyRow } from '../store/statement.ts'
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
  command((db, a: { names: readonly NewName[] }, on) =>
    db
      .insertInto(table)
      .columns(['name', 'created_at'])
      .expression(
        db
          .selectFrom(on.records(a.names, { name: 'text', created_at: 'bigint' }).as('n'))
          .select(['n.name', 'n.created_at'])
          .where(everyRow),
      )
      .onConflict(c => c.doNothing()),
  )
const addClasses = addNames('resource_classes')
const addTraits = addNames('traits')

/** Adds the standard names that this database doesn't have yet. */
export function* addStandardNames(now: number): Write<void> {
  const rows = (names: readonly string[]) => names.map(name => ({ name, created_at: now }))
  yield* runAll([addClasses({ names: rows(standardClasses) }), addTraits({ names: rows(standardTraits) })])
}
