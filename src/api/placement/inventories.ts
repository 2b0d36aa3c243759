// /resource_providers/{uuid}/inventories
import {
  addInventory,
  confirmInventories,
  deleteInventory,
  type Inventory,
  type InventoryTerms,
  providerInventories,
  setInventories,
  shownReserved,
  updateInventory,
} from '../../ledger/inventories.ts'
import { findProvider, type Provider } from '../../ledger/providers.ts'
import { Problem, problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { byName, Count, named } from '../shapes.ts'
import { newest } from './modified.ts'
import type { Answer, PlacementRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const INT_MAX = 2_147_483_647
// The largest single-precision float, because upstream's database column holds one.
const RATIO_MAX = 3.40282e38

const amount = (minimum: number) => Type.Integer({ minimum, maximum: INT_MAX })
const Terms = {
  total: amount(1),
  reserved: Type.Optional(amount(0)),
  min_unit: Type.Optional(amount(1)),
  max_unit: Type.Optional(amount(1)),
  step_size: Type.Optional(amount(1)),
  allocation_ratio: Type.Optional(Type.Number({ maximum: RATIO_MAX })),
}
const closed = { additionalProperties: false }

const newInventory = check(
  Type.Object(
    {
      ...Terms,
      resource_class: Type.String({ pattern: '^[A-Z0-9_]+$' }),
      resource_provider_generation: Type.Optional(Type.Integer()),
    },
    closed,
  ),
)
const oneInventory = check(Type.Object({ ...Terms, resource_provider_generation: Type.Integer() }, closed))

const InventoryRecord = Type.Object({ ...Terms, resource_provider_generation: Type.Optional(Type.Integer()) }, closed)
/** All inventories of a provider. Names that can't be classes pass the schema and are refused later as unknown. */
export const InventorySet = Type.Object(
  {
    resource_provider_generation: Type.Integer(),
    inventories: Type.Record(Type.String({ pattern: '^[A-Z0-9_]+$' }), InventoryRecord),
  },
  closed,
)
const inventorySet = check(InventorySet)

type GivenTerms = { total: number } & Partial<InventoryTerms>

/** The terms, with defaults for what the client left out. */
function termsOf(given: GivenTerms): InventoryTerms {
  const { total, reserved = 0, min_unit = 1, max_unit = INT_MAX, step_size = 1, allocation_ratio = 1 } = given
  if (min_unit > max_unit) {
    throw problem('malformed_request', { reason: `min_unit ${min_unit} is above max_unit ${max_unit}` })
  }
  return { total, reserved, min_unit, max_unit, step_size, allocation_ratio }
}

/** A Map by class name, not an object: the client chooses the names and may send `__proto__`. */
export function termsByClass(inventories: Record<string, GivenTerms>): Map<string, InventoryTerms> {
  const terms = new Map<string, InventoryTerms>()
  for (const [name, given] of Object.entries(inventories)) {
    // The schema checks only members whose names can be classes.
    if (typeof given?.total !== 'number') throw unknownClass(name)
    terms.set(name, termsOf(given))
  }
  return terms
}

const unknownClass = (name: string) => problem('class_unknown', { name, where: 'Unknown resource class in inventory' })

const shown = (terms: InventoryTerms): InventoryTerms => ({
  total: terms.total,
  reserved: terms.reserved,
  min_unit: terms.min_unit,
  max_unit: terms.max_unit,
  step_size: terms.step_size,
  allocation_ratio: terms.allocation_ratio,
})
const shownStored = (inventory: Inventory) => ({ ...shown(inventory), reserved: shownReserved(inventory) })

const rulesFor = ({ has }: PlacementRequest) => ({ mayReserveAll: has.reserveAll })

const Shown = {
  total: Count,
  reserved: Count,
  min_unit: Count,
  max_unit: Count,
  step_size: Count,
  allocation_ratio: Type.Number(),
}
const ShownOne = named('Inventory', { ...Shown, resource_provider_generation: Count })
const ShownSet = named('Inventories', {
  resource_provider_generation: Count,
  inventories: byName(named('InventoryTerms', Shown)),
})

listInventories.operation = {
  summary: 'List the inventories of a resource provider',
  answers: { 200: ShownSet },
} satisfies Operation

export async function listInventories(request: PlacementRequest): Promise<Answer> {
  return asList(await request.context.store.read(() => providerInventories(request.param('uuid'))))
}

interface Stored {
  provider: Provider
  inventories: readonly Inventory[]
}

function asList({ provider, inventories }: Stored): Answer {
  const body = {
    resource_provider_generation: provider.generation,
    inventories: Object.fromEntries(inventories.map(inventory => [inventory.resource_class, shownStored(inventory)])),
  }
  return { status: 200, body, modified: inventories.length > 0 ? newest(inventories, 0) : null }
}

showInventory.operation = {
  summary: 'Show one inventory of a resource provider',
  answers: { 200: ShownOne },
} satisfies Operation

export async function showInventory(request: PlacementRequest): Promise<Answer> {
  const [uuid, resourceClass] = [request.param('uuid'), request.param('resource_class')]
  return asOne(await request.context.store.read(() => providerInventories(uuid)), resourceClass)
}

function asOne({ provider, inventories }: Stored, resourceClass: string): Answer {
  const found = inventories.find(inventory => inventory.resource_class === resourceClass)
  if (!found) throw problem('inventory_not_found', { resourceClass, provider: provider.uuid })
  const body = { ...shownStored(found), resource_provider_generation: provider.generation }
  return { status: 200, body, modified: newest([found], 0) }
}

createInventory.operation = {
  summary: 'Add an inventory to a resource provider',
  body: [newInventory],
  answers: { 201: ShownOne },
} satisfies Operation

export async function createInventory(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const uuid = request.param('uuid')
  await store.read(() => findProvider(uuid))
  const { resource_class, resource_provider_generation: _, ...given } = request.body(newInventory)
  const terms = termsOf(given)
  const now = clock.now()
  const generation = await store.write(() => addInventory(uuid, resource_class, terms, rulesFor(request), now))
  const location = `/resource_providers/${uuid}/inventories/${resource_class}`
  const body = { ...shown(terms), resource_provider_generation: generation }
  return { status: 201, location, body, modified: now }
}

putInventories.operation = {
  summary: 'Set all inventories of a resource provider',
  body: [inventorySet],
  answers: { 200: ShownSet },
} satisfies Operation

export async function putInventories(request: PlacementRequest): Promise<Answer> {
  const uuid = request.param('uuid')
  const { store, clock } = request.context
  const given = setOf(request)
  // Mostly the set is well-formed and its provider has no owner. Then nothing needs to be looked up first.
  if (!given) return putCheckedInventories(request)
  const now = clock.now()
  try {
    const generation = await store.write(() =>
      setInventories(uuid, given.terms, given.generation, rulesFor(request), now),
    )
    return asPut(given.terms, generation, now)
  } catch (error) {
    if (!(error instanceof Problem && error.kind === 'provider_managed')) throw error
    return putCheckedInventories(request)
  }
}

/** The wanted inventories; null if the body is malformed. */
function setOf(request: PlacementRequest): { generation: number; terms: Map<string, InventoryTerms> } | null {
  try {
    const { resource_provider_generation: generation, inventories } = request.body(inventorySet)
    return { generation, terms: termsByClass(inventories) }
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

function asPut(terms: ReadonlyMap<string, InventoryTerms>, generation: number, now: number): Answer {
  const inventories = Object.fromEntries(Array.from(terms, ([name, one]) => [name, shown(one)]))
  const body = { resource_provider_generation: generation, inventories }
  return { status: 200, body, modified: terms.size > 0 ? now : null }
}

/** Looks at the provider first, so that of several faults the client is told the one that it expects. */
async function putCheckedInventories(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const uuid = request.param('uuid')
  const provider = await store.read(() => findProvider(uuid))
  const wanted = request.body(inventorySet)
  if (wanted.resource_provider_generation !== provider.generation) {
    throw problem('generation_conflict', { reason: 'resource provider generation conflict' })
  }
  const terms = termsByClass(wanted.inventories)
  if (provider.managed_by !== null) {
    const rules = { ...rulesFor(request), isPart: false }
    return asList(await store.read(() => confirmInventories(uuid, terms, wanted.resource_provider_generation, rules)))
  }
  const now = clock.now()
  const generation = await store.write(() =>
    setInventories(uuid, terms, wanted.resource_provider_generation, rulesFor(request), now),
  )
  return asPut(terms, generation, now)
}

putInventory.operation = {
  summary: 'Change one inventory of a resource provider',
  body: [oneInventory],
  answers: { 200: ShownOne },
} satisfies Operation

export async function putInventory(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const [uuid, resourceClass] = [request.param('uuid'), request.param('resource_class')]
  const provider = await store.read(() => findProvider(uuid))
  const { resource_provider_generation: given, ...rest } = request.body(oneInventory)
  const terms = termsOf(rest)
  if (provider.managed_by !== null) {
    const wanted = new Map([[resourceClass, terms]])
    const rules = { ...rulesFor(request), isPart: true }
    return asOne(await store.read(() => confirmInventories(uuid, wanted, given, rules)), resourceClass)
  }
  const now = clock.now()
  const generation = await store.write(() => updateInventory(uuid, resourceClass, terms, given, rulesFor(request), now))
  return { status: 200, body: { ...shown(terms), resource_provider_generation: generation }, modified: now }
}

deleteInventories.operation = {
  summary: 'Delete all inventories of a resource provider',
  answers: { 204: null },
} satisfies Operation

export async function deleteInventories(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  await store.write(() => setInventories(request.param('uuid'), new Map(), null, rulesFor(request), clock.now()))
  return { status: 204 }
}

deleteOneInventory.operation = {
  summary: 'Delete one inventory of a resource provider',
  answers: { 204: null },
} satisfies Operation

export async function deleteOneInventory(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const [provider, resourceClass] = [request.param('uuid'), request.param('resource_class')]
  try {
    await store.write(() => deleteInventory(provider, resourceClass, clock.now()))
  } catch (error) {
    // Upstream has another error code here than when all inventories are deleted.
    const inUse = error instanceof Problem && error.kind === 'inventory_in_use'
    throw inUse ? problem('inventory_delete_refused', { resourceClass, provider }) : error
  }
  return { status: 204 }
}
