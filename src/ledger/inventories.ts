// Inventories: how much of a resource class a provider has, and how it may be handed out.
import { sql } from 'kysely'
import { someOf } from '../events/subject.ts'
import { problem } from '../problems/problem.ts'
import type { ProviderId, ResourceClassId } from '../store/schema/ids.ts'
import { bulk, command, query } from '../store/statement.ts'
import { all, type Read, run, type Write } from '../store/transaction.ts'
import { bumpGeneration, findProvider, lockProvider, type Provider, type ProviderNews } from './providers.ts'
import { classesNamed, className, findClass } from './resource-classes.ts'

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
  const provider = yield* lockProvider(uuid, { changing: 'inventory' })
  checkGeneration(provider, generation)
  checkReserved(provider, wanted, rules)
  yield* writeInventories(provider, wanted, now)
  const gone = yield* dropOtherInventories(provider, wanted)
  return yield* bumpGeneration(provider, now, inventoryNews(wanted, gone))
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
  const classes = yield* classesNamed([...wanted.keys()])
  const rows: InventoryRow[] = []
  for (const [name, terms] of wanted) {
    const found = classes.get(name)
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
  if (rows.length > 0) yield* run(putInventories({ rows }))
}

/** Removes the inventories of a locked provider that aren't wanted, unless one is in use. Returns their classes. */
export function* dropOtherInventories(provider: Provider, wanted: ReadonlyMap<string, unknown>): Write<string[]> {
  const others = (yield* all(inventoriesOf({ provider: provider.id }))).filter(i => !wanted.has(i.resource_class))
  const inUse = others.filter(inventory => inventory.used > 0)
  if (inUse.length > 0) {
    const resourceClasses = inUse.map(inventory => inventory.resource_class).join(', ')
    throw problem('inventory_in_use', { resourceClasses, provider: provider.uuid })
  }
  if (others.length > 0) {
    yield* run(removeInventories({ provider: provider.id, classes: others.map(inventory => inventory.class_id) }))
  }
  return others.map(inventory => inventory.resource_class)
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
