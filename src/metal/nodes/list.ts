// Lists of nodes: filtered, sorted and paged by the database. The same statements serve every filter.
import { type RawBuilder, sql } from 'kysely'
import { problem } from '../../problems/problem.ts'
import {
  type ColumnName,
  COLUMNS,
  type FieldsWith,
  FILTERED,
  NODE_FIELDS,
  type NodeColumns,
} from '../../shared/node-fields.ts'
import { jsonIn, type JsonText, NUMBERS } from '../../shared/json.ts'
import type { NodeId, ProviderId } from '../../store/schema/ids.ts'
import { query, type Query, type Tools } from '../../store/statement.ts'
import { one, type Read, together } from '../../store/transaction.ts'
import { inView, type View } from '../access.ts'
import { type NodeKey, OWNER } from './rows.ts'
import { afterMarker, inOrder, type Marker } from '../pages.ts'

/** Filters that compare a field with a value; null means no filter. */
type FieldFilter = {
  [Name in Exclude<(typeof FILTERED)[number], 'chassis_uuid' | 'shard'>]: NodeColumns[Name] | null
}

export interface NodeFilter extends FieldFilter {
  associated: 0 | 1 | null
  project: string | null
  chassis_uuid: string | null
  description_contains: string | null
  shard: readonly string[] | null
  sharded: 0 | 1 | null
  reserved: 0 | 1 | null
  /** Child nodes are left out unless the client asks for them, here or with `parent_node`. */
  include_children: 0 | 1 | null
  /** Leaves out held nodes, for clients that look for nodes to deploy on. */
  eligible: 1 | null
}

/** The four filters by traits, as in the API working group's guideline on tags. */
export interface TraitFilter {
  all: readonly string[] | null
  any: readonly string[] | null
  notAll: readonly string[] | null
  notAny: readonly string[] | null
}

export interface Page {
  sortKey: SortKey
  descending: boolean
  limit: number
  /** The uuid of the last node of the page before. */
  marker: string | null
}

export type SortKey = 'id' | Exclude<ColumnName, FieldsWith<{ type: 'json' }>>
export const SORT_KEYS = ['id', ...COLUMNS.filter(name => NODE_FIELDS[name].type !== 'json')] as readonly SortKey[]

interface ListArgs extends Omit<NodeFilter, 'shard' | 'project' | 'include_children'>, Marker {
  /** The client's view. */
  all: 0 | 1
  project: string | null
  /** The project that the client filters by. */
  ofProject: string | null
  shards: string | null
  excluded: string | null
  now: number
  /** Only statements with `isAmong` use it. */
  among: readonly ProviderId[]
  limit: number
}

type Column = RawBuilder<unknown>

/** True when the argument is null. */
const given = (argument: unknown, condition: Column) =>
  sql<boolean>`(cast(${argument} as text) is null or ${condition})`

const listed = (on: Tools, argument: unknown) =>
  on.dialect === 'sqlite'
    ? sql`(select value from json_each(${argument}))`
    : sql`(select json_array_elements_text(cast(${argument} as json)))`

const held = ({ now }: ListArgs) =>
  sql`exists (select 1 from reservations r where r.node_id = n.id and r.expires_at > cast(${now} as bigint))`

const PLAINLY_FILTERED = FILTERED.filter(name => name !== 'chassis_uuid' && name !== 'shard')

function conditions(on: Tools, a: ListArgs): RawBuilder<boolean>[] {
  const flag = (name: keyof ListArgs, condition: Column) =>
    given(a[name], sql`(case when ${condition} then 1 else 0 end) = ${a[name]}`)
  return [
    ...PLAINLY_FILTERED.map(name => given(a[name], sql`n.${sql.ref(name)} = ${a[name]}`)),
    flag('associated', sql`n.instance_uuid is not null`),
    flag('sharded', sql`n.shard is not null`),
    flag('reserved', held(a)),
    given(a.eligible, sql`not ${held(a)}`),
    given(a.ofProject, sql`(n.owner = ${a.ofProject} or n.lessee = ${a.ofProject})`),
    inView(a),
    given(a.chassis_uuid, sql`n.chassis_id = (select c.id from chassis c where c.uuid = ${a.chassis_uuid})`),
    // Not `like`: the client's text may contain its wildcards.
    given(
      a.description_contains,
      on.dialect === 'sqlite'
        ? sql`instr(lower(n.description), lower(${a.description_contains})) > 0`
        : sql`strpos(lower(n.description), lower(${a.description_contains})) > 0`,
    ),
    given(a.shards, sql`n.shard in ${listed(on, a.shards)}`),
    given(a.excluded, sql`cast(n.provider_id as text) not in ${listed(on, a.excluded)}`),
  ]
}

const isText = (key: SortKey) => key !== 'id' && NODE_FIELDS[key].type.startsWith('text')

interface Shape {
  key: SortKey
  descending: boolean
  isAmong: boolean
  hasChildren: boolean
  /** Without a filter the conditions are left out: they cost more than the rest of a long page. */
  isFiltered: boolean
  /** Starts after a marker. Part of the statement, so that the database starts there and not at the first node. */
  isContinued: boolean
}

/** A page as two lists in one row: a thousand rows cost more time in the driver than in the database. */
interface PackedKeys {
  ids: JsonText<NodeId[]>
  revisions: JsonText<number[]>
}

const packed = <T>(on: Tools, column: string) =>
  on.dialect === 'sqlite'
    ? sql<JsonText<T[]>>`json_group_array(${sql.ref(column)})`
    : sql<JsonText<T[]>>`coalesce(cast(json_agg(${sql.ref(column)}) as text), '[]')`

function build(shape: Shape): (args: ListArgs) => Query<PackedKeys> {
  const { key, descending, isAmong, hasChildren, isFiltered, isContinued } = shape
  return query((db, a: ListArgs, on) => {
    let select = db.selectFrom('nodes as n').select(['n.id', 'n.revision'])
    if (!hasChildren) select = select.where('n.parent_node', 'is', null)
    if (isFiltered) for (const condition of conditions(on, a)) select = select.where(condition)
    const order = { table: 'n', key, isText: isText(key), descending }
    if (isContinued) select = select.where(afterMarker(order, a))
    if (isAmong) select = select.where(on.isIn('n.provider_id', a.among, 'bigint'))
    const page = inOrder(select, order).limit(sql<number>`cast(${a.limit} as bigint)`)
    return db
      .selectFrom(page.as('page'))
      .select([packed<NodeId>(on, 'id').as('ids'), packed<number>(on, 'revision').as('revisions')])
  })
}

// One statement for each shape, built on first use.
const statements = new Map<string, ReturnType<typeof build>>()
const statementFor = (shape: Shape) =>
  statements.getOrInsertComputed(Object.values(shape).join(' '), () => build(shape))

const providersWith = query((db, a: { names: readonly string[]; least: number }, on) =>
  db
    .selectFrom('provider_traits as p')
    .innerJoin('traits as t', 't.id', 'p.trait_id')
    .select('p.provider_id')
    .where(on.isIn('t.name', a.names))
    .where('p.origin', '=', OWNER)
    .groupBy('p.provider_id')
    .having(sql<boolean>`count(*) >= cast(${a.least} as bigint)`),
)
const markerNode = query((db, a: { uuid: string } & View) =>
  db.selectFrom('nodes as n').selectAll('n').where('n.uuid', '=', a.uuid).where(inView(a)),
)

export type ListedKey = Pick<NodeKey, 'id' | 'revision'>

/** The keys of one page, and one more when there is a next page. */
export function* listNodeKeys(
  view: View,
  filter: NodeFilter,
  traits: TraitFilter,
  page: Page,
  now: number,
): Read<ListedKey[]> {
  const { among, excluded } = yield* byTraits(traits)
  const marker = page.marker === null ? null : yield* one(markerNode({ uuid: page.marker, ...view }))
  if (page.marker !== null && !marker) throw problem('metal_not_found', { what: 'Node', name: page.marker })
  const { shard, project, include_children, ...rest } = filter
  const args: ListArgs = {
    ...rest,
    ...view,
    ofProject: project,
    shards: shard && JSON.stringify(shard),
    excluded: excluded && JSON.stringify(excluded.map(String)),
    among: among ?? [],
    now,
    limit: page.limit + 1,
    markerId: marker?.id ?? null,
    markerValue: marker?.[page.sortKey] ?? null,
  }
  const isFiltered = !view.all || excluded !== null || Object.values(filter).some(value => value !== null)
  const shape = {
    key: page.sortKey,
    descending: page.descending,
    isAmong: among !== null,
    hasChildren: include_children === 1 || filter.parent_node !== null,
    isFiltered,
    isContinued: marker !== null,
  }
  const list = statementFor(shape)
  const { ids, revisions } = (yield* one(list(args)))!
  const revisionAt = jsonIn(revisions, NUMBERS)
  return jsonIn(ids, NUMBERS).map((id, i) => ({ id, revision: revisionAt[i]! }))
}

/** The providers that the trait filters allow (null for all), and those that they exclude. */
function* byTraits(traits: TraitFilter): Read<{ among: ProviderId[] | null; excluded: ProviderId[] | null }> {
  const { all: every, any, notAll, notAny } = traits
  const ask = (names: readonly string[] | null, least: number) => providersWith({ names: names ?? [], least })
  if (!every && !any && !notAll && !notAny) return { among: null, excluded: null }
  const sizes = (names: readonly string[] | null) => new Set(names).size
  const answers = yield* together(ask(every, sizes(every)), ask(any, 1), ask(notAll, sizes(notAll)), ask(notAny, 1))
  const [hasAll, hasAny, lacksNone, hasSome] = answers.map(rows => rows.map(row => row.provider_id)) as [
    ProviderId[],
    ProviderId[],
    ProviderId[],
    ProviderId[],
  ]
  const excluded = notAll || notAny ? [...lacksNone, ...hasSome] : null
  if (!every && !any) return { among: null, excluded }
  if (!every) return { among: hasAny, excluded }
  if (!any) return { among: hasAll, excluded }
  const wanted = new Set(hasAny)
  return { among: hasAll.filter(id => wanted.has(id)), excluded }
}
