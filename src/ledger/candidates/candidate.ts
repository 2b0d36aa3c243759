// One candidate of a result as an object, for callers inside Holdfast; answer.ts writes the answers to clients.
import type { ResourceAmount } from './request.ts'
import type { SearchResult } from './search.ts'
import type { CandidateTable } from './table.ts'

export interface Candidate {
  /** The uuid of the root that it belongs to. */
  root: string
  /** By provider uuid. */
  allocations: Map<string, ResourceAmount[]>
  /** By suffix. */
  mappings: Map<string, string[]>
}

/** Call it right after the search: the rows in a result are valid only until the table changes. */
export function candidateAt(table: CandidateTable, result: SearchResult, index: number): Candidate {
  const { plan, picks, anchors } = result
  const allocations = new Map<string, ResourceAmount[]>()
  const mappings = new Map<string, string[]>()
  const slots = plan?.slots ?? []
  for (const [i, slot] of slots.entries()) {
    const uuid = table.uuid[picks[index * slots.length + i]!]!
    const mapped = mappings.get(slot.group.suffix) ?? []
    if (!mapped.includes(uuid)) mapped.push(uuid)
    mappings.set(slot.group.suffix, mapped)
    if (slot.needs.length === 0) continue
    const taken = allocations.get(uuid) ?? []
    allocations.set(uuid, taken)
    for (const { column, amount } of slot.needs) {
      const resourceClass = plan!.columns[column]!.name
      const known = taken.find(one => one.resourceClass === resourceClass)
      if (known === undefined) taken.push({ resourceClass, amount })
      else known.amount += amount
    }
  }
  return { root: table.uuid[anchors[index]!]!, allocations, mappings }
}
