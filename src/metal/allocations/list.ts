// Lists of allocations: filtered, sorted and cut into pages by the database.
import { sql } from 'kysely'
import type { AllocationId } from '../../store/schema/ids.ts'
import { onePage, partsOf, readIfShort, type RowsToRead } from '../../store/sized.ts'
import { query } from '../../store/statement.ts'
import type { Store } from '../../store/store.ts'
import { all, type Read } from '../../store/transaction.ts'
import { type Access, seeing, type View } from '../access.ts'
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
  /** Sees only what the project owns: found by index, so that the large rows of others aren't passed. */
  isOwn: boolean
}

/** The columns that may be long. */
const TEXTS = ['a.extra', 'a.candidate_nodes', 'a.traits', 'a.last_error', 'a.reasons'] as const

const build = ({ key, descending, isContinued, isOwn }: Shape) =>
  query((db, a: ListArgs, on) => {
    const order = { table: 'a', key, isText: !NUMERIC.has(key), descending }
    const same = (column: string, value: string | null) =>
      sql<boolean>`(cast(${value} as text) is null or ${sql.ref(column)} = ${value})`
    let select = selectAllocations(db)
      .clearSelect()
      .select(['a.id', 'a.uuid', on.bytes(...TEXTS).as('bytes')])
      .where(same('n.uuid', a.node_uuid))
      .where(same('a.resource_class', a.resource_class))
      .where(same('a.state', a.state))
      .where(same('a.owner', a.owner))
    if (isOwn) select = select.where('a.owner', '=', a.project)
    if (isContinued) select = select.where(afterMarker(order, a))
    return inOrder(select, order).limit(sql<number>`cast(${a.limit} as bigint)`)
  })

const statements = new Map<string, ReturnType<typeof build>>()
const statementFor = (shape: Shape) =>
  statements.getOrInsertComputed(Object.values(shape).join(' '), () => build(shape))

const allocationsById = query((db, a: { ids: readonly AllocationId[] }, on) =>
  selectAllocations(db).where(on.isIn('a.id', a.ids, 'bigint')),
)

interface ListedAllocations {
  rows: RowsToRead<AllocationId, Allocation>
  /** The uuid of the last one, if there are more. */
  marker: string | null
}

export const allocationParts = (store: Store, rows: ListedAllocations['rows']) => partsOf(store, rows, allocationsById)

/** The allocations of one page. It ends early when they are large. */
export function* listAllocations(
  filter: AllocationFilter,
  page: AllocationPage,
  access: Access,
): Read<ListedAllocations> {
  const marker = page.marker === null ? null : yield* findAllocation(page.marker, seeing(access))
  const shape = {
    key: page.sortKey,
    descending: page.descending,
    isContinued: marker !== null,
    isOwn: access.view.all === 0,
  }
  const place = { markerId: marker?.id ?? null, markerValue: marker?.[page.sortKey] ?? null }
  const found = yield* all(statementFor(shape)({ ...filter, ...place, ...access.view, limit: page.limit + 1 }))
  const cut = onePage(found, page.limit)
  return { rows: yield* readIfShort(cut, allocationsById), marker: cut.hasMore ? cut.page.at(-1)!.uuid : null }
}
