// Whether the table already shows a provider as it is: then it needs no change.
import type { ProviderSnapshot } from './snapshot.ts'
import { type CandidateTable, NO_PARENT } from './table.ts'

export function isShown(table: CandidateTable, snapshot: ProviderSnapshot): boolean {
  const row = table.rowOfId(snapshot.id)
  return (
    row >= 0 &&
    table.uuid[row] === snapshot.uuid &&
    table.name[row] === snapshot.name &&
    table.generation[row] === snapshot.generation &&
    table.parentId[row] === (snapshot.parentId ?? NO_PARENT) &&
    table.rootId[row] === snapshot.rootId &&
    table.managedBy[row] === (snapshot.managedBy ?? null) &&
    table.dedicatedTo[row] === (snapshot.dedicatedTo ?? null) &&
    table.traitSet[row]!.key === snapshot.traits.join(',') &&
    table.aggregateSet[row]!.key === snapshot.aggregates.join(',') &&
    table.addedTraits[row]!.join(',') === (snapshot.addedTraits ?? []).join(',') &&
    hasInventories(table, row, snapshot)
  )
}

function hasInventories(table: CandidateTable, row: number, { inventories }: ProviderSnapshot): boolean {
  if (table.classesOf[row]!.length !== inventories.length) return false
  return inventories.every(one => table.column(one.resourceClass)?.shows(row, one) ?? false)
}
