// GET /resource_providers with filters: each provider judged by itself, with its own aggregates and traits only.
import { lowestBit } from './bitset.ts'
import type { RowSet } from './bitset.ts'
import type { Labels } from './labels.ts'
import type { ResourceAmount } from './request.ts'
import type { CandidateTable } from './table.ts'
import type { ProviderId } from '../../store/schema/ids.ts'

interface ProviderFilter {
  resources: readonly ResourceAmount[]
  required: readonly (readonly string[])[]
  forbidden: readonly string[]
  memberOf: readonly (readonly string[])[]
  forbiddenAggregates: readonly string[]
  inTree: string | null
}

/** Ids of the matching providers, in ascending order. */
export function findProviders(table: CandidateTable, filter: ProviderFilter): ProviderId[] {
  const { traits, aggregates } = table
  const all: Int32Array[] = [table.live.words(table.wordCount)]
  const columns = filter.resources.map(({ resourceClass }) => table.column(resourceClass))
  for (const column of columns) all.push(union(table, column === null ? [] : [column.holders]))
  for (const any of filter.required) all.push(union(table, setsOf(traits, any)))
  for (const any of filter.memberOf) all.push(union(table, setsOf(aggregates, any)))
  const none = union(table, [...setsOf(traits, filter.forbidden), ...setsOf(aggregates, filter.forbiddenAggregates)])
  const tree = filter.inTree === null ? null : rootIdOf(table, filter.inTree)
  const out: ProviderId[] = []
  for (let w = 0; w < table.wordCount; w++) {
    let word = ~none[w]!
    for (const words of all) word &= words[w]!
    for (; word !== 0; word &= word - 1) {
      const row = (w << 5) + lowestBit(word)
      if (tree !== null && table.rootId[row] !== tree) continue
      if (filter.resources.every(({ amount }, i) => columns[i]!.fits(row, amount))) out.push(table.id[row]!)
    }
  }
  return out.sort((a, b) => a - b)
}

function setsOf(labels: Labels, names: readonly string[]): RowSet[] {
  return names.map(name => labels.rowsOf(name)).filter(set => set !== null)
}

function union(table: CandidateTable, sets: readonly RowSet[]): Int32Array {
  if (sets.length === 1) return sets[0]!.words(table.wordCount)
  const out = new Int32Array(table.wordCount)
  for (const set of sets) {
    const words = set.words(table.wordCount)
    for (let w = 0; w < out.length; w++) out[w]! |= words[w]!
  }
  return out
}

/** NaN, which equals no id, when the uuid is unknown. */
function rootIdOf(table: CandidateTable, uuid: string): number {
  const row = table.rowOfUuid(uuid)
  return row < 0 ? NaN : table.rootId[row]!
}
