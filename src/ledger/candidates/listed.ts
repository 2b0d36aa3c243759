// The providers in memory as a list, for people: trees together, sorted by name.
import type { ProviderId } from '../../store/schema/ids.ts'
import type { Row } from './bitset.ts'
import type { CandidateTable } from './table.ts'

interface ListedProvider {
  id: ProviderId
  uuid: string
  name: string
  parent: string | null
  traits: readonly string[]
  /** Used, and how much can be: by resource class. */
  inventories: Record<string, [used: number, capacity: number]>
}

/** Each parent before its children; `called` says what a provider is called. */
export function providersIn(table: CandidateTable, called: (id: ProviderId, name: string) => string): ListedProvider[] {
  const children = new Map<Row, { row: Row; name: string }[]>()
  for (const row of table.live.rows()) {
    const name = called(table.id[row] as ProviderId, table.name[row]!)
    children.getOrInsertComputed(table.parentRow(row), () => []).push({ row, name })
  }
  const byNumbers = new Intl.Collator('en', { numeric: true })
  const listed: ListedProvider[] = []
  const list = (parent: Row) => {
    const own = children.get(parent) ?? []
    for (const { row, name } of own.sort((a, b) => byNumbers.compare(a.name, b.name))) {
      listed.push(providerAt(table, row, name))
      list(row)
    }
  }
  list(-1)
  return listed
}

function providerAt(table: CandidateTable, row: Row, name: string): ListedProvider {
  const parent = table.parentRow(row)
  const columns = (table.classesOf[row] ?? []).map(at => table.classes[at]!)
  return {
    id: table.id[row] as ProviderId,
    uuid: table.uuid[row]!,
    name,
    parent: parent < 0 ? null : table.uuid[parent]!,
    traits: table.traitSet[row]!.labels.map(label => table.traits.names[label]!).sort(),
    inventories: Object.fromEntries(
      columns.map(column => [column.name, [column.used[column.at(row)]!, column.capacity[column.at(row)]!]]),
    ),
  }
}
