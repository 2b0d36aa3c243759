// /resource_providers
import { Type } from 'typebox'
import {
  createProvider,
  deleteProvider,
  findProvider,
  listProviders,
  type Provider,
  updateProvider,
} from '../../ledger/providers.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problem.ts'
import { check } from '../schema.ts'
import { newest } from './modified.ts'
import { PREFIX } from './prefix.ts'
import type { Answer, PlacementRequest } from './request.ts'
import type { Has } from './versions.ts'

const closed = { additionalProperties: false }
const Name = Type.String({ maxLength: 200 })
const Uuid = Type.String({ format: 'uuid' })
const Parent = Type.Optional(Type.Union([Uuid, Type.Null()]))

const newProvider = check(Type.Object({ name: Name, uuid: Type.Optional(Uuid) }, closed))
const newProviderInTree = check(
  Type.Object({ name: Name, uuid: Type.Optional(Uuid), parent_provider_uuid: Parent }, closed),
)
const changeInTree = check(Type.Object({ name: Name, parent_provider_uuid: Parent }, closed))
const change: typeof changeInTree = check(Type.Object({ name: Name }, closed))

const pathOf = (uuid: string) => `/resource_providers/${uuid}`

function show(provider: Provider, has: Has): object {
  const self = PREFIX + pathOf(provider.uuid)
  const links = ['inventories', 'usages']
  if (has.aggregates) links.push('aggregates')
  if (has.traits) links.push('traits')
  if (has.allocationsLink) links.push('allocations')
  return {
    uuid: provider.uuid,
    name: provider.name,
    generation: provider.generation,
    links: [{ rel: 'self', href: self }, ...links.map(rel => ({ rel, href: `${self}/${rel}` }))],
    ...(has.trees && { parent_provider_uuid: provider.parent_uuid, root_provider_uuid: provider.root_uuid }),
  }
}

export async function createResourceProvider(request: PlacementRequest): Promise<Answer> {
  const { has, context } = request
  const given = has.trees
    ? request.body(newProviderInTree)
    : { ...request.body(newProvider), parent_provider_uuid: null }
  const uuid = given.uuid === undefined ? context.clock.newUuid() : canonicalUuid(given.uuid)!
  if (given.name === '') throw problem('provider_name_missing', { provider: uuid })
  const now = context.clock.now()
  const wanted = { uuid, name: given.name, parentUuid: given.parent_provider_uuid ?? null }
  const provider = await context.store.write(() => createProvider(wanted, now))
  const location = pathOf(uuid)
  if (!has.providerInAnswer) return { status: 201, location }
  return { status: 200, location, body: show(provider, has), modified: now }
}

export async function showResourceProvider(request: PlacementRequest): Promise<Answer> {
  const provider = await request.context.store.read(() => findProvider(request.param('uuid')))
  return { status: 200, body: show(provider, request.has), modified: newest([provider], 0) }
}

export async function putResourceProvider(request: PlacementRequest): Promise<Answer> {
  const { has, context } = request
  const uuid = request.param('uuid')
  await context.store.read(() => findProvider(uuid))
  const { name, parent_provider_uuid: parentUuid } = request.body(has.trees ? changeInTree : change)
  const wanted = { name, parentUuid, mayReparent: has.reparenting }
  const { before, after } = await context.store.write(() => updateProvider(uuid, wanted, context.clock.now()))
  // The time of the change before this one: that is what upstream shows.
  return { status: 200, body: show(after, has), modified: before.updated_at }
}

export async function deleteResourceProvider(request: PlacementRequest): Promise<Answer> {
  const provider = request.param('uuid')
  await request.context.store.write(() => deleteProvider(provider))
  return { status: 204 }
}

const filters = (...names: string[]) =>
  check(
    Type.Object(
      {
        name: Type.Optional(Type.String()),
        uuid: Type.Optional(Uuid),
        ...Object.fromEntries(names.map(name => [name, Type.Optional(name === 'in_tree' ? Uuid : Type.String())])),
      },
      closed,
    ),
  )
const filtersOf = [
  [18, filters('member_of', 'resources', 'in_tree', 'required')],
  [14, filters('member_of', 'resources', 'in_tree')],
  [4, filters('member_of', 'resources')],
  [3, filters('member_of')],
  [0, filters()],
] as const

export async function listResourceProviders(request: PlacementRequest): Promise<Answer> {
  const { has, context, version } = request
  const [, known] = filtersOf.find(([since]) => version.minor >= since)!
  const { name, uuid } = request.checkedQuery(known)
  const providers = await context.store.read(() =>
    listProviders({ ...(name !== undefined && { name }), ...(uuid !== undefined && { uuid }) }),
  )
  const body = { resource_providers: providers.map(provider => show(provider, has)) }
  return { status: 200, body, modified: newest(providers, context.clock.now()) }
}
