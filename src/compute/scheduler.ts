// Searches the ledger in memory for places for a server. A place is only a proposal; the claim decides.
import { candidateAt } from '../ledger/candidates/candidate.ts'
import { search, type SearchResult } from '../ledger/candidates/search.ts'
import type { CandidateTable } from '../ledger/candidates/table.ts'
import type { Resources } from '../ledger/claims/claim.ts'
import { limits } from '../shared/limits.ts'
import { OWNER as BAREMETAL } from '../metal/nodes/rows.ts'
import { HYPERVISOR_CLASSES } from './hypervisors.ts'
import { candidateRequestOf, type Wish } from './wishes.ts'
import type { ProviderId } from '../store/schema/ids.ts'

export interface Place {
  host: { id: ProviderId; uuid: string; name: string }
  isMetal: boolean
  claims: Resources
}

interface Choice {
  /** Hosts to leave out, by provider id. */
  without: ReadonlySet<ProviderId>
  /** This host and no other. */
  only: string | null
  /** The same seed gives the same order; different ones spread servers over hosts. */
  seed: number
}

const BUDGET = {
  workMax: limits.searchStepsMax,
  breathEvery: limits.searchStepsPerTurn,
  picksMax: limits.searchPicksMax,
  perRoot: true,
}

/** The first few places that fit, at most one a host. */
export function* findPlaces(table: CandidateTable, wish: Wish, choice: Choice): Generator<undefined, Place[], void> {
  const request = candidateRequestOf(wish, choice.seed)
  if (request === null) return []
  // Mostly a few candidates contain enough eligible places; otherwise all are searched.
  for (const limit of [limits.placesPerSearch * 8, null]) {
    const result = yield* search(table, { ...request, limit }, BUDGET)
    const places = eligiblePlaces(table, result, choice)
    if (places.length > 0 || result.count < (limit ?? Infinity)) return places
  }
  return []
}

function eligiblePlaces(table: CandidateTable, result: SearchResult, choice: Choice): Place[] {
  const places: Place[] = []
  for (let i = 0; i < result.count && places.length < limits.placesPerSearch; i++) {
    const row = result.anchors[i]!
    if (!isEligible(table, row, choice)) continue
    const { allocations } = candidateAt(table, result, i)
    const host = { id: table.id[row]!, uuid: table.uuid[row]!, name: table.name[row]! }
    const isMetal = isNode(table, row)
    // A node is claimed whole, and together with nothing else.
    if (isMetal && (allocations.size > 1 || !allocations.has(host.uuid))) continue
    const claims = new Map(
      Array.from(allocations, ([provider, taken]) => [
        provider,
        new Map(taken.map(({ resourceClass, amount }) => [resourceClass, amount])),
      ]),
    )
    places.push({ host, isMetal, claims })
  }
  return places
}

function isEligible(table: CandidateTable, row: number, { without, only }: Choice): boolean {
  if (without.has(table.id[row]!)) return false
  if (only !== null && table.name[row] !== only) return false
  return isNode(table, row) || isHypervisor(table, row)
}

const isNode = (table: CandidateTable, row: number): boolean => table.managedBy[row] === BAREMETAL

const isHypervisor = (table: CandidateTable, row: number): boolean =>
  table.managedBy[row] === null && HYPERVISOR_CLASSES.every(name => (table.column(name)?.at(row) ?? -1) >= 0)
