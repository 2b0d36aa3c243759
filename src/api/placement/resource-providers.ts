// /resource_providers
import { createProvider } from '../../ledger/new-provider.ts'
import { deleteProvider, findProvider, listProviders, type Provider, updateProvider } from '../../ledger/providers.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { askAgain } from '../../leases/nova/hosts.ts'
import { Problem, problem } from '../../problems/problem.ts'
import { findProviders } from '../../ledger/candidates/providers.ts'
import { customNames, requireNames } from '../../ledger/known-names.ts'
import { limits } from '../../shared/limits.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import { listed } from '../../http/written.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Count, from, Links, named, orNull, Text } from '../shapes.ts'
import { byVersion } from './by-version.ts'
import { parseMemberOf, parseRequired, parseResources } from './filters.ts'
import { newest } from './modified.ts'
import type { Answer, PlacementRequest } from './request.ts'
import { type Has, since } from './versions.ts'
import { Type } from '../../shared/type.ts'

const closed = { additionalProperties: false }
const Name = Type.String({ maxLength: 200 })
const Uuid = Type.String({ format: 'uuid' })
const Parent = Type.Optional(from(since('trees'), Type.Union([Uuid, Type.Null()])))

const newProvider = check(Type.Object({ name: Name, uuid: Type.Optional(Uuid) }, closed))
const newProviderInTree = check(
  Type.Object({ name: Name, uuid: Type.Optional(Uuid), parent_provider_uuid: Parent }, closed),
)
const changeInTree = check(Type.Object({ name: Name, parent_provider_uuid: Parent }, closed))
const change: typeof changeInTree = check(Type.Object({ name: Name }, closed))

/** The parent's UUID in canonical spelling, as it is stored. */
const parentOf = <T extends string | null | undefined>(given: T) => (given ? canonicalUuid(given) : given)

const pathOf = (uuid: string) => `/resource_providers/${uuid}`

function show(provider: Provider, has: Has): object {
  const self = PREFIXES.placement + pathOf(provider.uuid)
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

const Shown = named('ResourceProvider', {
  uuid: Uuid,
  name: Text,
  generation: Count,
  links: Links,
  parent_provider_uuid: from(since('trees'), orNull(Uuid)),
  root_provider_uuid: from(since('trees'), Uuid),
})

createResourceProvider.operation = {
  summary: 'Make a resource provider',
  description: `Before ${since('providerInAnswer')} it answers 201, without a body.`,
  body: [newProviderInTree, newProvider],
  answers: { 200: Shown, 201: null },
} satisfies Operation

export async function createResourceProvider(request: PlacementRequest): Promise<Answer> {
  const { has, context } = request
  const given = has.trees
    ? request.body(newProviderInTree)
    : { ...request.body(newProvider), parent_provider_uuid: null }
  const uuid = given.uuid === undefined ? context.clock.newUuid() : canonicalUuid(given.uuid)!
  if (given.name === '') throw problem('provider_name_missing', { provider: uuid })
  const now = context.clock.now()
  const wanted = { uuid, name: given.name, parentUuid: parentOf(given.parent_provider_uuid ?? null) }
  const provider = await context.store
    .write(() => createProvider(wanted, now))
    .catch(async error => {
      const isTaken = error instanceof Problem && error.kind === 'provider_exists'
      if (isTaken && context.nova) await context.store.write(() => askAgain(given.name))
      throw error
    })
  const location = pathOf(uuid)
  if (!has.providerInAnswer) return { status: 201, location }
  return { status: 200, location, body: show(provider, has), modified: now }
}

showResourceProvider.operation = { summary: 'Show a resource provider', answers: { 200: Shown } } satisfies Operation

export async function showResourceProvider(request: PlacementRequest): Promise<Answer> {
  const provider = await request.context.store.read(() => findProvider(request.param('uuid')))
  return { status: 200, body: show(provider, request.has), modified: newest([provider], 0) }
}

putResourceProvider.operation = {
  summary: 'Rename a resource provider, or move it to another parent',
  body: [changeInTree, change],
  answers: { 200: Shown },
} satisfies Operation

export async function putResourceProvider(request: PlacementRequest): Promise<Answer> {
  const { has, context } = request
  const uuid = request.param('uuid')
  await context.store.read(() => findProvider(uuid))
  const { name, parent_provider_uuid: parent } = request.body(has.trees ? changeInTree : change)
  const wanted = { name, parentUuid: parentOf(parent), mayReparent: has.reparenting }
  const { before, after } = await context.store.write(() => updateProvider(uuid, wanted, context.clock.now()))
  // The time of the previous change, as upstream.
  return { status: 200, body: show(after, has), modified: before.updated_at }
}

deleteResourceProvider.operation = {
  summary: 'Delete a resource provider that nothing is claimed of',
  answers: { 204: null },
} satisfies Operation

export async function deleteResourceProvider(request: PlacementRequest): Promise<Answer> {
  const provider = request.param('uuid')
  await request.context.store.write(() => deleteProvider(provider))
  return { status: 204 }
}

const filters = (...names: string[]) =>
  check(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      properties: {
        name: Type.String(),
        uuid: Uuid,
        ...Object.fromEntries(names.map(name => [name, name === 'in_tree' ? Uuid : Type.String()])),
      },
      ...closed,
    }),
  )
const knownFilters = byVersion([
  ['requiredFilter', filters('member_of', 'resources', 'in_tree', 'required')],
  ['trees', filters('member_of', 'resources', 'in_tree')],
  ['resourcesFilter', filters('member_of', 'resources')],
  ['memberOf', filters('member_of')],
  [null, filters()],
])

listResourceProviders.operation = {
  summary: 'List the resource providers that match',
  query: knownFilters.all,
  answers: { 200: Type.Object({ resource_providers: Type.Array(Shown) }) },
} satisfies Operation

export async function listResourceProviders(request: PlacementRequest): Promise<Answer> {
  const { has, context, version } = request
  const { name, uuid } = request.checkedQuery(knownFilters(version))
  const ids = await idsWanted(request)
  const filter = { ...(name && { name }), ...(uuid && { uuid }), ...(ids && { ids }) }
  const most = name || uuid ? 1 : (ids?.length ?? context.mirror.table.size)
  const isLong = most > limits.listItemsPerTurn
  const providers = await context.store.read(() => listProviders(filter), { isLong })
  const body = { resource_providers: listed(providers, provider => show(provider, has)) }
  return { status: 200, body, modified: newest(providers, context.clock.now()) }
}

/** The providers that pass the filters which need a search; null without such filters. */
async function idsWanted({ query, has, context }: PlacementRequest): Promise<Provider['id'][] | null> {
  if (!SEARCHED.some(key => query.has(key))) return null
  const inTree = query.get('in_tree')
  const traits = parseRequired(query.getAll('required'), has)
  const aggregates = parseMemberOf(query.getAll('member_of'), has)
  const given = query.get('resources')
  const resources = given === null ? [] : parseResources(given)
  const custom = customNames(
    resources.map(resource => resource.resourceClass),
    [...traits.required.flat(), ...traits.forbidden],
  )
  await context.store.read(() => requireNames(custom))
  return findProviders(context.mirror.table, { resources, ...traits, ...aggregates, inTree })
}

const SEARCHED = ['member_of', 'required', 'in_tree', 'resources']
