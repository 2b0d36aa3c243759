// Lists of allocations: filtered, sorted and cut into pages by the database.
import { sql } from 'kysely'
import { query } from '../../store/statement.ts'
import { all, type Read } from '../../store/transaction.ts'
import { type Access, ownInView, seeing, type View } from '../access.ts'
import { type Allocation, findAllocation, selectAllocations } from './rows.ts'
import { afterMarker, inOrder, type Marker } from '../pages.ts'

/** null leaves a filter out. */
export interface AllocationFilter {
  node_uuid: string | null
  resource_class: string | null
  state: string | null
  owner: string | null
}

export const SORT_KEYS = [
  'id',
  'uuid',
  'name',
  'state',
  'resource_class',
  'last_error',
  'owner',
  'created_at',
  'updated_at',
] as const
type SortKey = (typeof SORT_KEYS)[number]
const NUMERIC: ReadonlySet<string> = new Set<SortKey>(['id', 'created_at', 'updated_at'])

interface AllocationPage {
  sortKey: SortKey
  descending: boolean
  limit: number
  /** The uuid of the last one of the page before. */
  marker: string | null
}

interface ListArgs extends AllocationFilter, Marker, View {
  limit: number
}

interface Shape {
  key: SortKey
  descending: boolean
  isContinued: boolean
}

const build = ({ key, descending, isContinued }: Shape) =>
  query((db, a: ListArgs) => {
    const order = { table: 'a', key, isText: !NUMERIC.has(key), descending }
    const same = (column: string, value: string | null) =>
      sql<boolean>`(cast(${value} as text) is null or ${sql.ref(column)} = ${value})`
    let select = selectAllocations(db)
      .where(same('n.uuid', a.node_uuid))
      .where(same('a.resource_class', a.resource_class))
      .where(same('a.state', a.state))
      .where(same('a.owner', a.owner))
      .where(ownInView('a.owner', a))
    if (isContinued) select = select.where(afterMarker(order, a))
    return inOrder(select, order).limit(sql<number>`cast(${a.limit} as bigint)`)
  })

const statements = new Map<string, ReturnType<typeof build>>()
const statementFor = (shape: Shape) =>
  statements.getOrInsertComputed(Object.values(shape).join(' '), () => build(shape))

/** The allocations of one page, and one more when there is a next page. */
export function* listAllocations(filter: AllocationFilter, page: AllocationPage, access: Access): Read<Allocation[]> {
  const marker = page.marker === null ? null : yield* findAllocation(page.marker, seeing(access))
  const shape = { key: page.sortKey, descending: page.descending, isContinued: marker !== null }
  const place = { markerId: marker?.id ?? null, markerValue: marker?.[page.sortKey] ?? null }
  return yield* all(statementFor(shape)({ ...filter, ...place, ...access.view, limit: page.limit + 1 }))
}
