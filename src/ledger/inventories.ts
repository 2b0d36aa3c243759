// Inventories: how much of a resource class a provider has, and how it may be handed out.
import { sql } from 'kysely'
import { someOf } from '../events/subject.ts'
import { problem } from '../problems/problem.ts'
import type { ProviderId, ResourceClassId } from '../store/schema/ids.ts'
import { bulk, command, query } from '../store/statement.ts'
import { all, type Read, run, type Write } from '../store/transaction.ts'
import {
  bumpAfter,
  bumpGeneration,
  findProvider,
  lockProvider,
  lockProviderWith,
  type Provider,
  type ProviderNews,
} from './providers.ts'
import type { InventorySnapshot } from './candidates/snapshot.ts'
import { isCustom } from './standard.ts'
import { classesByName, className, findClass, type ResourceClass } from './resource-classes.ts'

/** The fields of an inventory that a client sets. */
export interface InventoryTerms {
  total: number
  reserved: number
  min_unit: number
  max_unit: number
  step_size: number
  allocation_ratio: number
}

export interface Inventory extends InventoryTerms {
  class_id: ResourceClassId
  resource_class: string
  capacity: number
  used: number
  blocked: 0 | 1
  created_at: number
  updated_at: number | null
}

const inventoriesOf = query((db, a: { provider: ProviderId }, on) =>
  db
    .selectFrom('inventories as i')
    .selectAll()
    .select(className('i.class_id').as('resource_class'))
    .where('i.provider_id', '=', a.provider)
    .orderBy(on.unindexed('i.class_id')),
)
const inventoriesOfUuid = query((db, a: { uuid: string }, on) =>
  db
    .selectFrom('inventories as i')
    .selectAll()
    .select(className('i.class_id').as('resource_class'))
    .where('i.provider_id', '=', db.selectFrom('providers').select('id').where('uuid', '=', a.uuid))
    .orderBy(on.unindexed('i.class_id')),
)

interface InventoryRow extends InventoryTerms {
  provider_id: ProviderId
  class_id: ResourceClassId
  capacity: number
  now: number
}

const INVENTORY_ROW = {
  provider_id: 'bigint',
  class_id: 'bigint',
  total: 'bigint',
  reserved: 'bigint',
  min_unit: 'bigint',
  max_unit: 'bigint',
  step_size: 'bigint',
  allocation_ratio: 'double precision',
  capacity: 'bigint',
  now: 'bigint',
} as const
export const putInventories = bulk<InventoryRow>(INVENTORY_ROW, (db, { now, ...r }, on) =>
  on
    .insert(db.insertInto('inventories'), {
      ...r,
      // A capacity may be below zero. A ceiling may not: `used` is never below 0, nor above the ceiling.
      ceiling: on.greatest(r.capacity, sql.lit(0)),
      created_at: now,
    })
    .onConflict(c =>
      c.columns(['provider_id', 'class_id']).doUpdateSet(e => ({
        total: e.ref('excluded.total'),
        reserved: e.ref('excluded.reserved'),
        min_unit: e.ref('excluded.min_unit'),
        max_unit: e.ref('excluded.max_unit'),
        step_size: e.ref('excluded.step_size'),
        allocation_ratio: e.ref('excluded.allocation_ratio'),
        capacity: e.ref('excluded.capacity'),
        ceiling: on.greatest(e.ref('excluded.ceiling'), e.ref('inventories.used')),
        updated_at: e.ref('excluded.created_at'),
      })),
    ),
)
export const removeInventories = command((db, a: { provider: ProviderId; classes: readonly ResourceClassId[] }, on) =>
  db
    .deleteFrom('inventories')
    .where('provider_id', '=', a.provider)
    .where(on.isIn('class_id', a.classes, 'bigint')),
)

/** How much may be used, at most 2^53 - 1: a double holds every whole number up to there. */
export function capacityOf({ total, reserved, allocation_ratio }: InventoryTerms): number {
  return Math.min(Math.floor((total - reserved) * allocation_ratio), Number.MAX_SAFE_INTEGER)
}

/** What clients see as reserved. A blocked inventory that nobody uses shows as fully reserved. */
export function shownReserved({ total, reserved, blocked, used }: Inventory): number {
  return blocked && used === 0 ? total : reserved
}

export function* providerInventories(uuid: string): Read<{ provider: Provider; inventories: Inventory[] }> {
  const provider = yield* findProvider(uuid)
  return { provider, inventories: yield* all(inventoriesOf({ provider: provider.id })) }
}

/**
 * Answers who sets the inventories of a provider with an owner to what they are, and refuses all else. `reserved` may
 * differ: the owner sets it together with the state it stands for, and a client that looks from outside comes later.
 * A wanted set may be a part of the inventories only if `isPart`.
 */
export function* confirmInventories(
  uuid: string,
  wanted: ReadonlyMap<string, InventoryTerms>,
  generation: number,
  { isPart, ...rules }: Rules & { isPart: boolean },
): Read<{ provider: Provider; inventories: Inventory[] }> {
  const { provider, inventories } = yield* providerInventories(uuid)
  checkGeneration(provider, generation)
  const isTrue = [...wanted].every(([name, terms]) => {
    const found = inventories.find(inventory => inventory.resource_class === name)
    return found && FIXED_TERMS.every(term => found[term] === terms[term])
  })
  const isWhole = wanted.size > 0 && (isPart || wanted.size === inventories.length)
  if (!isTrue || !isWhole) {
    throw problem('provider_managed', { provider: uuid, owner: provider.managed_by ?? 'Placement', what: 'inventory' })
  }
  checkReserved(provider, wanted, rules)
  return { provider, inventories }
}

const FIXED_TERMS = ['total', 'min_unit', 'max_unit', 'step_size', 'allocation_ratio'] as const

interface Rules {
  /** From microversion 1.26 on everything may be reserved. */
  mayReserveAll: boolean
}

/** Replaces all inventories of a provider; returns its new generation. */
export function* setInventories(
  uuid: string,
  wanted: ReadonlyMap<string, InventoryTerms>,
  generation: number | null,
  rules: Rules,
  now: number,
): Write<number> {
  const [provider, classes, present] = yield* lockProviderWith(
    uuid,
    { changing: 'inventory' },
    classesByName({ names: [...wanted.keys()] }),
    inventoriesOfUuid({ uuid }),
  )
  checkGeneration(provider, generation)
  checkReserved(provider, wanted, rules)
  const rows = rowsOf(provider, wanted, classes, now)
  const gone = goneOf(provider, wanted, present)
  const commands = [
    ...(rows.length > 0 ? [putInventories({ rows })] : []),
    ...(gone.length > 0 ? [removeInventories({ provider: provider.id, classes: gone.map(i => i.class_id) })] : []),
  ]
  const news = inventoryNews(
    wanted,
    gone.map(inventory => inventory.resource_class),
  )
  // Of a class that the provider did not have, memory reads the name: a client may be about to rename it.
  const had = new Set(present.map(inventory => inventory.resource_class))
  const areKnown = wanted.keys().every(name => had.has(name) || !isCustom(name))
  const parts = areKnown && { parts: { inventories: snapshotsOf(rows, wanted, present) } }
  return yield* bumpAfter({ commands, ...parts }, provider, now, news)
}

/** The inventories as copies of the ledger have them. A set says nothing of what is used or blocked. */
function snapshotsOf(
  rows: readonly InventoryRow[],
  wanted: ReadonlyMap<string, unknown>,
  present: readonly Inventory[],
): InventorySnapshot[] {
  const names = [...wanted.keys()]
  const before = new Map(present.map(inventory => [inventory.class_id, inventory]))
  const all = rows.map((row, i) => ({
    class: row.class_id,
    resourceClass: names[i]!,
    total: row.total,
    reserved: row.reserved,
    minUnit: row.min_unit,
    maxUnit: row.max_unit,
    stepSize: row.step_size,
    allocationRatio: row.allocation_ratio,
    used: before.get(row.class_id)?.used ?? 0,
    blocked: before.get(row.class_id)?.blocked === 1,
  }))
  return all.sort((a, b) => a.class - b.class).map(({ class: _, ...inventory }) => inventory)
}

/** Adds one inventory. The API has never checked the provider's generation here. */
export function* addInventory(
  uuid: string,
  resourceClass: string,
  terms: InventoryTerms,
  rules: Rules,
  now: number,
): Write<number> {
  const provider = yield* lockProvider(uuid, { changing: 'inventory' })
  const wanted = new Map([[resourceClass, terms]])
  checkReserved(provider, wanted, rules, 'create')
  const present = yield* all(inventoriesOf({ provider: provider.id }))
  if (present.some(inventory => inventory.resource_class === resourceClass)) {
    throw problem('inventory_exists', { resourceClass, provider: uuid })
  }
  yield* writeInventories(provider, wanted, now)
  return yield* bumpGeneration(provider, now, inventoryNews(wanted))
}

export function* updateInventory(
  uuid: string,
  resourceClass: string,
  terms: InventoryTerms,
  generation: number,
  rules: Rules,
  now: number,
): Write<number> {
  const provider = yield* lockProvider(uuid, { changing: 'inventory' })
  checkGeneration(provider, generation)
  const wanted = new Map([[resourceClass, terms]])
  checkReserved(provider, wanted, rules)
  yield* findClass(resourceClass)
  const present = yield* all(inventoriesOf({ provider: provider.id }))
  if (!present.some(inventory => inventory.resource_class === resourceClass)) {
    throw problem('inventory_absent', { resourceClass, provider: uuid })
  }
  yield* writeInventories(provider, wanted, now)
  return yield* bumpGeneration(provider, now, inventoryNews(wanted))
}

export function* deleteInventory(uuid: string, resourceClass: string, now: number): Write<void> {
  const provider = yield* lockProvider(uuid, { changing: 'inventory' })
  const found = (yield* all(inventoriesOf({ provider: provider.id }))).find(i => i.resource_class === resourceClass)
  if (!found) throw problem('inventory_not_found', { resourceClass, provider: uuid, purpose: 'delete' })
  if (found.used > 0) throw problem('inventory_in_use', { resourceClasses: resourceClass, provider: uuid })
  yield* run(removeInventories({ provider: provider.id, classes: [found.class_id] }))
  yield* bumpGeneration(provider, now, inventoryNews(new Map(), [resourceClass]))
}

type Told = Pick<InventoryTerms, 'total' | 'reserved' | 'allocation_ratio'>

/** The inventories that were set, and those that are gone. */
export function inventoryNews(set: ReadonlyMap<string, Told>, gone: readonly string[] = []): Required<ProviderNews> {
  const told = [...set].map(([name, { total, reserved, allocation_ratio }]) => [
    name,
    { total, reserved, allocation_ratio },
  ])
  return { became: 'inventory', data: { set: Object.fromEntries(someOf(told)), gone: someOf(gone) } }
}

/** Writes the given inventories of a locked provider and leaves its others alone. */
export function* writeInventories(
  provider: Provider,
  wanted: ReadonlyMap<string, InventoryTerms>,
  now: number,
): Write<void> {
  const rows = rowsOf(provider, wanted, yield* all(classesByName({ names: [...wanted.keys()] })), now)
  if (rows.length > 0) yield* run(putInventories({ rows }))
}

function rowsOf(
  provider: Provider,
  wanted: ReadonlyMap<string, InventoryTerms>,
  classes: readonly ResourceClass[],
  now: number,
): InventoryRow[] {
  const rows: InventoryRow[] = []
  for (const [name, terms] of wanted) {
    const found = classes.find(one => one.name === name)
    if (!found)
      throw problem('class_unknown', {
        name,
        where: `Unknown resource class in inventory for resource provider ${provider.uuid}`,
      })
    if (found.managed_by !== null && found.managed_by !== provider.managed_by) {
      throw problem('class_managed', { name, owner: found.managed_by })
    }
    rows.push({ provider_id: provider.id, class_id: found.id, ...terms, capacity: capacityOf(terms), now })
  }
  return rows
}

/** Removes the inventories of a locked provider that aren't wanted, unless one is in use. Returns their classes. */
export function* dropOtherInventories(provider: Provider, wanted: ReadonlyMap<string, unknown>): Write<string[]> {
  const others = goneOf(provider, wanted, yield* all(inventoriesOf({ provider: provider.id })))
  if (others.length > 0) {
    yield* run(removeInventories({ provider: provider.id, classes: others.map(inventory => inventory.class_id) }))
  }
  return others.map(inventory => inventory.resource_class)
}

/** The present inventories that aren't wanted: none of them may be in use. */
function goneOf(
  provider: Provider,
  wanted: ReadonlyMap<string, unknown>,
  present: readonly Inventory[],
): readonly Inventory[] {
  const others = present.filter(inventory => !wanted.has(inventory.resource_class))
  const inUse = others.filter(inventory => inventory.used > 0)
  if (inUse.length > 0) {
    const resourceClasses = inUse.map(inventory => inventory.resource_class).join(', ')
    throw problem('inventory_in_use', { resourceClasses, provider: provider.uuid })
  }
  return others
}

function checkGeneration(provider: Provider, generation: number | null): void {
  if (generation !== null && generation !== provider.generation) {
    throw problem('generation_conflict', { reason: 'resource provider generation conflict' })
  }
}

function checkReserved(
  provider: Provider,
  wanted: ReadonlyMap<string, InventoryTerms>,
  rules: Rules,
  verb: 'create' | 'update' = 'update',
): void {
  for (const [resourceClass, terms] of wanted) {
    const capacity = Math.trunc((terms.total - terms.reserved) * terms.allocation_ratio)
    if (capacity < 0 || (capacity === 0 && !rules.mayReserveAll)) {
      throw problem('inventory_over_reserved', {
        verb,
        resourceClass,
        provider: provider.uuid,
        mayEqual: rules.mayReserveAll,
      })
    }
  }
}
