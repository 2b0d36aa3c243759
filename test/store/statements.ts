// The few statements that the store's suite needs, on tables of the real schema.
import type { ConsumerId, ProviderId, ResourceClassId } from '../../src/store/schema/ids.ts'
import { command, query } from '../../src/store/statement.ts'
import { one, run, type Write } from '../../src/store/transaction.ts'

export const traitByName = query((db, a: { name: string }) =>
  db.selectFrom('traits').selectAll().where('name', '=', a.name),
)
export const traitsLike = query((db, a: { pattern: string }) =>
  db.selectFrom('traits').select('name').where('name', 'like', a.pattern),
)
export const addTrait = command((db, a: { name: string; now: number }) =>
  db.insertInto('traits').values({ name: a.name, created_at: a.now }),
)
export const raiseTime = command((db, a: { name: string }) =>
  db
    .updateTable('traits')
    .set(e => ({ created_at: e('created_at', '+', 1) }))
    .where('name', '=', a.name),
)

export const providerByUuid = query((db, a: { uuid: string }) =>
  db.selectFrom('providers').selectAll().where('uuid', '=', a.uuid),
)
export const addProvider = command((db, a: { uuid: string; name: string; now: number }) =>
  db.insertInto('providers').values({ uuid: a.uuid, name: a.name, created_at: a.now }).returning('id'),
)

interface InventoryKey {
  provider_id: ProviderId
  class_id: ResourceClassId
}
const addClass = command((db, a: { name: string }) =>
  db.insertInto('resource_classes').values({ name: a.name, created_at: 0 }).returning('id'),
)
const addInventory = command((db, a: InventoryKey & { size: number }) =>
  db.insertInto('inventories').values({
    provider_id: a.provider_id,
    class_id: a.class_id,
    total: a.size,
    reserved: 0,
    min_unit: 1,
    max_unit: a.size,
    step_size: 1,
    allocation_ratio: 1,
    capacity: a.size,
    ceiling: a.size,
    created_at: 0,
  }),
)
const addConsumer = command((db, a: { uuid: string }) =>
  db
    .insertInto('consumers')
    .values({ uuid: a.uuid, project_id: 'p', user_id: 'u', generation: 1, created_at: 0 })
    .returning('id'),
)
const addClaim = command((db, a: InventoryKey & { consumer_id: ConsumerId; used: number }) =>
  db.insertInto('claims').values({
    consumer_id: a.consumer_id,
    provider_id: a.provider_id,
    class_id: a.class_id,
    used: a.used,
    created_at: 0,
  }),
)
export const setUse = command((db, a: InventoryKey & { used: number }) =>
  db
    .updateTable('inventories')
    .set({ used: a.used })
    .where('provider_id', '=', a.provider_id)
    .where('class_id', '=', a.class_id),
)
export const removeInventory = command((db, a: InventoryKey) =>
  db.deleteFrom('inventories').where('provider_id', '=', a.provider_id).where('class_id', '=', a.class_id),
)
export const removeConsumer = command((db, a: { id: ConsumerId }) => db.deleteFrom('consumers').where('id', '=', a.id))

/** An inventory of 10 with a claim of 1 on it. */
export function* inventoryWithClaim(): Write<{ inventory: InventoryKey; claim: { consumer_id: ConsumerId } }> {
  const provider = yield* one(addProvider({ uuid: 'with-claim', name: 'with-claim', now: 0 }))
  const resourceClass = yield* one(addClass({ name: 'CUSTOM_WITH_CLAIM' }))
  const inventory = { provider_id: provider!.id, class_id: resourceClass!.id }
  yield* run(addInventory({ ...inventory, size: 10 }))
  const consumer = yield* one(addConsumer({ uuid: 'with-claim' }))
  const claim = { consumer_id: consumer!.id }
  yield* run(addClaim({ ...inventory, ...claim, used: 1 }))
  yield* run(setUse({ ...inventory, used: 1 }))
  return { inventory, claim }
}
