// Reads the whole ledger for the candidate table, some thousand providers at a time: each column of a page comes as one
// JSON list. Making an object from every row took most of the time of a load, and all of them at once the memory.
import type { Kysely } from 'kysely'
import { limits } from '../shared/limits.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import { query, type Tools } from '../store/statement.ts'
import { type Read, together } from '../store/transaction.ts'
import { addTrait, type RevisedSnapshot } from './snapshot.ts'
import { aggregateKey } from './uuid.ts'

/** Providers after the first of these ids, up to the second. */
interface Range {
  after: ProviderId
  upTo: ProviderId
}

const BEFORE_ALL = -1 as ProviderId
const PROVIDER = [
  'id',
  'uuid',
  'name',
  'generation',
  'revision',
  'parent_id',
  'root_id',
  'managed_by',
  'dedicated_to',
] as const
const INVENTORY = [
  'provider_id',
  'class_id',
  'total',
  'reserved',
  'min_unit',
  'max_unit',
  'step_size',
  'allocation_ratio',
  'used',
  'blocked',
] as const
const TRAIT = ['provider_id', 'trait_id', 'origin'] as const
const AGGREGATE = ['provider_id', 'aggregate'] as const
const NAME = ['id', 'name'] as const

type Lists<Names extends readonly string[]> = Record<Names[number], string | null>

const lists = <const Names extends readonly string[]>(names: Names, on: Tools) =>
  names.map(name => on.list(`p.${name}`).as(name)) as unknown as readonly []

const providersAfter = query((db, a: { after: ProviderId; count: number }, on) =>
  db
    .selectFrom(
      db.selectFrom('providers').select(PROVIDER).where('id', '>', a.after).orderBy('id').limit(a.count).as('p'),
    )
    .select(lists(PROVIDER, on))
    .$castTo<Lists<typeof PROVIDER>>(),
)
const inventoriesIn = query((db, a: Range, on) =>
  db
    .selectFrom(
      db
        .selectFrom('inventories')
        .select(INVENTORY)
        .where('provider_id', '>', a.after)
        .where('provider_id', '<=', a.upTo)
        .orderBy('provider_id')
        .as('p'),
    )
    .select(lists(INVENTORY, on))
    .$castTo<Lists<typeof INVENTORY>>(),
)
const traitsIn = query((db, a: Range, on) =>
  db
    .selectFrom(
      db
        .selectFrom('provider_traits')
        .select(TRAIT)
        .where('provider_id', '>', a.after)
        .where('provider_id', '<=', a.upTo)
        // In the order of creation, as clients have always seen them in summaries.
        .orderBy('provider_id')
        .orderBy('trait_id')
        .as('p'),
    )
    .select(lists(TRAIT, on))
    .$castTo<Lists<typeof TRAIT>>(),
)
const aggregatesIn = query((db, a: Range, on) =>
  db
    .selectFrom(
      db
        .selectFrom('provider_aggregates')
        .select(AGGREGATE)
        .where('provider_id', '>', a.after)
        .where('provider_id', '<=', a.upTo)
        .orderBy('provider_id')
        .orderBy('aggregate')
        .as('p'),
    )
    .select(lists(AGGREGATE, on))
    .$castTo<Lists<typeof AGGREGATE>>(),
)
const names = (table: 'resource_classes' | 'traits') =>
  query((db: Kysely<Schema>, _: object, on) =>
    db.selectFrom(db.selectFrom(table).select(NAME).as('p')).select(lists(NAME, on)).$castTo<Lists<typeof NAME>>(),
  )
const classNames = names('resource_classes')
const traitNames = names('traits')

/** Gives every provider, a page after the other, all from one state. */
export function* loadAll(
  take: (page: RevisedSnapshot[]) => void,
  count: number = limits.loadPageProviders,
): Read<void> {
  const [[classes], [traits], [first]] = yield* together(
    classNames({}),
    traitNames({}),
    providersAfter({ after: BEFORE_ALL, count }),
  )
  const named = { classes: namesById(classes!), traits: namesById(traits!) }
  let after = BEFORE_ALL
  for (let rows = first!; rows.id !== null && rows.id !== '[]';) {
    const page = providersOf(rows)
    const range = { after, upTo: (after = page.at(-1)!.id) }
    const [[inventories], [traits], [aggregates], [next]] = yield* together(
      inventoriesIn(range),
      traitsIn(range),
      aggregatesIn(range),
      providersAfter({ after, count }),
    )
    addInventories(page, inventories!, named.classes)
    addTraits(page, traits!, named.traits)
    addAggregates(page, aggregates!)
    take(page)
    rows = next!
  }
}

const numbers = (list: string | null): number[] => (list === null ? [] : (JSON.parse(list) as number[]))
const texts = (list: string | null): string[] => (list === null ? [] : (JSON.parse(list) as string[]))

function namesById({ id, name }: Lists<typeof NAME>): Map<number, string> {
  const all = texts(name)
  return new Map(numbers(id).map((one, i) => [one, all[i]!]))
}

function providersOf(rows: Lists<typeof PROVIDER>): RevisedSnapshot[] {
  const ids = numbers(rows.id) as ProviderId[]
  const [uuids, called] = [texts(rows.uuid), texts(rows.name)]
  const [generations, revisions] = [numbers(rows.generation), numbers(rows.revision)]
  const [parents, roots] = [numbers(rows.parent_id), numbers(rows.root_id)] as [(ProviderId | null)[], ProviderId[]]
  const [managers, dedicated] = [texts(rows.managed_by), texts(rows.dedicated_to)] as (string | null)[][]
  return ids.map((id, i) => ({
    id,
    uuid: uuids[i]!,
    name: called[i]!,
    generation: generations[i]!,
    revision: revisions[i]!,
    parentId: parents[i]!,
    rootId: roots[i]!,
    managedBy: managers![i]!,
    dedicatedTo: dedicated![i]!,
    inventories: [],
    traits: [],
    aggregates: [],
  }))
}

/** Calls with the provider of each row. Both are in order of the id; rows whose provider is missing are skipped. */
function eachRow(
  page: readonly RevisedSnapshot[],
  ids: readonly number[],
  visit: (of: RevisedSnapshot, i: number) => void,
) {
  for (let i = 0, at = 0; i < ids.length; i++) {
    while (at < page.length && page[at]!.id < ids[i]!) at++
    if (page[at]?.id === ids[i]) visit(page[at]!, i)
  }
}

// Rows whose class or trait is missing are skipped here; fsck reports them.
function addInventories(page: readonly RevisedSnapshot[], rows: Lists<typeof INVENTORY>, classes: Map<number, string>) {
  const [classIds, totals, reserved] = [numbers(rows.class_id), numbers(rows.total), numbers(rows.reserved)]
  const [least, most, steps] = [numbers(rows.min_unit), numbers(rows.max_unit), numbers(rows.step_size)]
  const [ratios, used, blocked] = [numbers(rows.allocation_ratio), numbers(rows.used), numbers(rows.blocked)]
  eachRow(page, numbers(rows.provider_id), ({ inventories }, i) => {
    const resourceClass = classes.get(classIds[i]!)
    if (resourceClass === undefined) return
    inventories.push({
      resourceClass,
      total: totals[i]!,
      reserved: reserved[i]!,
      minUnit: least[i]!,
      maxUnit: most[i]!,
      stepSize: steps[i]!,
      allocationRatio: ratios[i]!,
      used: used[i]!,
      blocked: blocked[i] === 1,
    })
  })
}

function addTraits(page: readonly RevisedSnapshot[], rows: Lists<typeof TRAIT>, traits: Map<number, string>) {
  const [traitIds, origins] = [numbers(rows.trait_id), texts(rows.origin)]
  eachRow(page, numbers(rows.provider_id), (snapshot, i) => {
    const name = traits.get(traitIds[i]!)
    if (name !== undefined) addTrait(snapshot, name, origins[i]!)
  })
}

function addAggregates(page: readonly RevisedSnapshot[], rows: Lists<typeof AGGREGATE>) {
  const aggregates = texts(rows.aggregate)
  eachRow(page, numbers(rows.provider_id), (snapshot, i) => snapshot.aggregates.push(aggregateKey(aggregates[i]!)))
}
