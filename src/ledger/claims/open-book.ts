// Opens the book of a batch: one burst of reads locks the rows that the requests involve, and finds what is in them.
import { ENDING } from './lapsed.ts'
import { StoreConflict } from '../../store/failure.ts'
import { inTurns, together, type Write } from '../../store/transaction.ts'
import { Book, type BookConsumer, type BookInventory, type BookProvider } from './book.ts'
import { type ClaimRequest, consumersOf, namesIn } from './claim.ts'
import * as sql from './statements.ts'

export function* openBook(requests: readonly ClaimRequest[], now: number): Write<Book> {
  const consumers = [...new Set(requests.flatMap(consumersOf))]
  const { providers, names } = namesIn(requests)
  const named = { consumers, providers, now }
  const [consumerRows, providerRows, inventoryRows, claimRows, classRows] = yield* together(
    sql.lockConsumers(named),
    sql.lockProviders(named),
    sql.inventoriesInvolved(named),
    sql.claimsOfConsumers(named),
    sql.classesKnown({ names }),
  )
  const book = new Book(new Set(classRows.map(row => row.name)))
  yield* inTurns(providerRows, row => book.addProvider(bookProvider(row)))
  // Another process made this consumer after we took our locks. Only a fresh start locks all that it has.
  const locked = new Set(consumerRows.map(row => row.uuid))
  if (claimRows.some(row => !locked.has(row.uuid))) throw new StoreConflict('consumer_appeared')
  yield* inTurns(inventoryRows, row => {
    book.providerWithId(row.provider_id)?.inventories.set(row.name, bookInventory(row))
  })
  const claims = Map.groupBy(claimRows, row => row.uuid)
  yield* inTurns(consumerRows, row => {
    const have = (claims.get(row.uuid) ?? []).map(
      claim => [book.providerWithId(claim.provider_id)!.inventories.get(claim.name)!, claim.used] as const,
    )
    book.consumers.set(row.uuid, bookConsumer(row, have, now))
  })
  return book
}

type RowOf<Statement extends (args: never) => { row?: unknown }> = NonNullable<ReturnType<Statement>['row']>

function bookProvider(row: RowOf<typeof sql.lockProviders>): BookProvider {
  return {
    id: row.id,
    uuid: row.uuid,
    generation: row.generation,
    revision: row.revision,
    parentId: row.parent_id,
    managedBy: row.managed_by,
    dedicatedTo: row.dedicated_to,
    bumps: 0,
    inventories: new Map(),
  }
}

function bookInventory(row: RowOf<typeof sql.inventoriesInvolved>): BookInventory {
  return {
    providerId: row.provider_id,
    classId: row.class_id,
    resourceClass: row.name,
    capacity: row.capacity,
    minUnit: row.min_unit,
    maxUnit: row.max_unit,
    stepSize: row.step_size,
    blocked: row.blocked === 1,
    usedBefore: row.used,
    used: row.used,
  }
}

function bookConsumer(
  row: RowOf<typeof sql.lockConsumers>,
  have: readonly (readonly [BookInventory, number])[],
  now: number,
): BookConsumer {
  return {
    uuid: row.uuid,
    id: row.id,
    claimsBefore: new Map(have),
    now: {
      projectId: row.project_id,
      userId: row.user_id,
      type: row.type,
      generation: row.generation,
      managedBy: row.managed_by,
    },
    claims: new Map(have),
    touched: false,
    lapsedOf: row.type === ENDING && row.expires_at !== null && row.expires_at <= now ? row.project_id : null,
  }
}
