// Providers that one part of Holdfast alone hands out: the ledger grants them only together with something of a child that this
// part manages, so only such candidates are worth offering. The same rule as in claims/decide.ts.
import type { Row } from './bitset.ts'
import type { Column } from './column.ts'
import type { CandidateTable } from './table.ts'

/** Whether what comes from the child hands the provider out. */
export const handsOut = (table: CandidateTable, child: Row, row: Row): boolean =>
  table.parentId[child] === table.id[row] && table.managedBy[child] === table.dedicatedTo[row]

/** Whether a provider is dedicated, and nothing that is asked for could come from a child that hands it out. */
export function isSetAside(table: CandidateTable, row: Row, asked: readonly Column[]): boolean {
  if (table.dedicatedTo[row] === null) return false
  const children = table.treeOf[row]?.rows.filter(child => handsOut(table, child, row)) ?? []
  return !children.some(child => asked.some(column => column.at(child) >= 0))
}
