// Checks the schema; and of what is missing, whether the rows keep what it would have demanded.
import { limits } from '../shared/limits.ts'
import type { Fault } from '../store/catalogue/compare.ts'
import { examineSchema } from '../store/catalogue/examine.ts'
import { rowsAgainst } from '../store/catalogue/rows.ts'
import { count, type Finding, violationsOf } from '../store/fsck.ts'
import type { Store } from '../store/store.ts'

const WHOLE = 'the schema is what the migrations make: tables, columns, constraints, indexes, triggers, functions'
const NEWER = 'the schema is what a newer version made: only that can tell whether it is whole'

export async function checkSchema(store: Store): Promise<Finding[]> {
  const { faults, extras, isNewer } = await store.read(() => examineSchema(store.dialect))
  const findings: Finding[] = []
  for (const fault of faults.slice(0, limits.schemaFaultsListed)) {
    findings.push({ invariant: `${WHOLE}; the database ${fault.said}`, violations: 1 })
    findings.push(...(await rowsFinding(store, fault)))
  }
  const unlisted = faults.length - limits.schemaFaultsListed
  if (unlisted > 0) findings.push({ invariant: `${WHOLE}; and more faults than are listed`, violations: unlisted })
  if (faults.length === 0) findings.push({ invariant: isNewer ? NEWER : WHOLE, violations: 0 })
  if (extras.length > 0)
    findings.push({ invariant: `not made by a migration, and left alone: ${extras.join(', ')}`, violations: 0 })
  return findings
}

/** The rows that a missing constraint or unique index would have refused. */
async function rowsFinding(store: Store, { part }: Fault): Promise<Finding[]> {
  const against = part && rowsAgainst(part)
  if (against === null) return []
  const invariant = `rows keep what is missing: ${part!.name}: ${part!.wanted}`
  try {
    return [{ invariant, violations: await store.read(() => violationsOf(count(against))) }]
  } catch (error) {
    return [{ invariant: `${invariant} (can't be read: ${(error as Error).message})`, violations: 1 }]
  }
}
