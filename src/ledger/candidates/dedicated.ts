// Dedicated providers: one part of Holdfast alone hands them out. The ledger grants them only together with a child
// that this part manages, so only such candidates are offered. The same rule as in claims/decide.ts.
import type { Row } from './bitset.ts'
import type { Column } from './column.ts'
import type { CandidateTable } from './table.ts'

/** Whether a claim on the child allows one on the provider. */
export const handsOut = (table: CandidateTable, child: Row, row: Row): boolean =>
  table.parentId[child] === table.id[row] && table.managedBy[child] === table.dedicatedTo[row]

/** Whether a provider is dedicated and no child that hands it out has any of the classes asked for. */
export function isSetAside(table: CandidateTable, row: Row, asked: readonly Column[]): boolean {
  if (table.dedicatedTo[row] === null) return false
  const children = table.treeOf[row]?.rows.filter(child => handsOut(table, child, row)) ?? []
  return !children.some(child => asked.some(column => column.at(child) >= 0))
}
