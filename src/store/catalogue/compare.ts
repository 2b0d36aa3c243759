// Compares a database with what the migrations make. Pure.
import { limits } from '../../shared/limits.ts'
import type { Expected } from './expected.ts'
import type { Applied, Catalogue } from './read.ts'

/** What of a database isn't as the migrations make it. */
export interface Fault {
  /** In words, without a subject: "lacks …". */
  said: string
  /** The part that is missing or differs, and how it should be; null for a migration. */
  part: { name: string; wanted: string } | null
}

export interface SchemaReport {
  /** A newer version has migrated the database: only that version knows how it should be. */
  isNewer: boolean
  faults: readonly Fault[]
  /** Parts that no migration makes: an operator's own. They do no harm. */
  extras: readonly string[]
  /** Whether some migrations were applied before checksums were kept. */
  lacksChecksums: boolean
}

export function reportOn(expected: Expected, { applied, catalogue }: { applied: Applied; catalogue: Catalogue }) {
  const newest = Object.keys(expected.migrations).at(-1)!
  const isNewer = Object.keys(applied).some(name => name > newest)
  const report: SchemaReport = {
    isNewer,
    faults: isNewer ? [] : [...migrationFaults(expected.migrations, applied), ...partFaults(expected.parts, catalogue)],
    extras: isNewer ? [] : extrasOf(expected.parts, catalogue),
    lacksChecksums: Object.values(applied).includes(null),
  }
  return report
}

function migrationFaults(known: Expected['migrations'], applied: Applied): Fault[] {
  return Object.entries(applied).flatMap(([name, checksum]) => {
    const said = (words: string): Fault[] => [{ said: words, part: null }]
    if (!Object.hasOwn(known, name)) return said(`has the migration ${name}, which this version doesn't know`)
    if (checksum === null || checksum === known[name]) return []
    return said(`got another migration ${name} than the one of this version`)
  })
}

/** Of a table that is missing only itself is told. */
function partFaults(wanted: Catalogue, found: Catalogue): Fault[] {
  const isThere = (name: string) => Object.hasOwn(found, name)
  return Object.entries(wanted).flatMap(([name, definition]): Fault[] => {
    const part = { name, wanted: definition }
    if (isThere(name)) {
      const given = found[name]!
      return given === definition ? [] : [{ said: `has another ${name}: ${given || 'plain'}`, part }]
    }
    const table = tableOf(name)
    return table === null || isThere(table) ? [{ said: `lacks ${name}`, part }] : []
  })
}

/** Of a table that no migration makes only itself is told. */
function extrasOf(wanted: Catalogue, found: Catalogue): string[] {
  const isExtra = (name: string) => {
    const table = tableOf(name)
    return !Object.hasOwn(wanted, name) && (table === null || Object.hasOwn(wanted, table))
  }
  return Object.keys(found).filter(isExtra).sort()
}

/** The table that a part is of; null if it stands by itself. */
function tableOf(name: string): string | null {
  const table = /^(?:column|constraint|index|trigger) ([^.]+)\./.exec(name)?.[1]
  return table === undefined ? null : `table ${table}`
}

/** All faults in one line; null if there are none. */
export function faultsInWords({ faults }: SchemaReport): string | null {
  if (faults.length === 0) return null
  const said = faults.slice(0, limits.schemaFaultsSaid).map(({ said }) => said.split(':', 1)[0]!)
  const more = faults.length - said.length
  return `the database's schema is damaged: it ${said.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}
