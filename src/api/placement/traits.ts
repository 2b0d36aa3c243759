// /traits and /resource_providers/{uuid}/traits
import {
  deleteTrait,
  ensureTrait,
  findTrait,
  listTraits,
  providerTraits,
  setProviderTraits,
  type Trait,
  type TraitFilter,
} from '../../ledger/traits.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Count, named, Text } from '../shapes.ts'
import { newest } from './modified.ts'
import type { Answer, PlacementRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const CUSTOM_TRAIT = /^CUSTOM_[A-Z0-9_]+$/

const filters = check(
  Type.Object(
    { name: Type.Optional(Type.String()), associated: Type.Optional(Type.String()) },
    { additionalProperties: false },
  ),
)
const traitSet = check(
  Type.Object(
    {
      traits: Type.Array(Type.String({ minLength: 1, maxLength: 255 })),
      resource_provider_generation: Type.Integer(),
    },
    { additionalProperties: false },
  ),
)

const names = (traits: readonly Trait[]) => traits.map(trait => trait.name)

const OfProvider = named('ProviderTraits', { traits: Type.Array(Text), resource_provider_generation: Count })

listAllTraits.operation = {
  summary: 'List the traits that match',
  query: [filters],
  answers: { 200: Type.Object({ traits: Type.Array(Text) }) },
} satisfies Operation

export async function listAllTraits(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const { name, associated } = request.checkedQuery(filters)
  const filter: TraitFilter = name === undefined ? {} : nameFilter(name)
  if (associated !== undefined) {
    const word = associated.toLowerCase()
    if (word !== 'true' && word !== 'false') {
      throw problem('invalid_query', { reason: 'The query parameter "associated" only accepts "true" or "false"' })
    }
    filter.associated = word === 'true'
  }
  const traits = await store.read(() => listTraits(filter))
  return { status: 200, body: { traits: names(traits) }, modified: newest(traits, clock.now()) }
}

function nameFilter(value: string): TraitFilter {
  const colon = value.indexOf(':')
  if (colon < 0) {
    throw problem('invalid_query', {
      reason:
        'Badly formatted name parameter. Expected name query string parameter in form: ' +
        `?name=[in|startswith]:[name1,name2|prefix]. Got: "${value}"`,
    })
  }
  const operand = value.slice(colon + 1)
  switch (value.slice(0, colon)) {
    case 'in':
      return { names: operand.split(',') }
    case 'startswith':
      return { prefix: operand }
    default:
      return {}
  }
}

showTrait.operation = { summary: 'Say whether there is such a trait', answers: { 204: null } } satisfies Operation

export async function showTrait(request: PlacementRequest): Promise<Answer> {
  const trait = await request.context.store.read(() => findTrait(request.param('name')))
  return { status: 204, modified: trait.created_at }
}

putTrait.operation = {
  summary: 'Make sure that a custom trait is there',
  answers: { 201: null, 204: null },
} satisfies Operation

export async function putTrait(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const name = request.param('name')
  if (name.length > 255 || !CUSTOM_TRAIT.test(name)) throw problem('trait_invalid', {})
  const { isNew, created_at } = await store.write(() => ensureTrait(name, clock.now()))
  return { status: isNew ? 201 : 204, location: `/traits/${name}`, modified: created_at }
}

removeTrait.operation = {
  summary: 'Delete a custom trait that no resource provider has',
  answers: { 204: null },
} satisfies Operation

export async function removeTrait(request: PlacementRequest): Promise<Answer> {
  await request.context.store.write(() => deleteTrait(request.param('name')))
  return { status: 204 }
}

showProviderTraits.operation = {
  summary: 'Show the traits of a resource provider',
  answers: { 200: OfProvider },
} satisfies Operation

export async function showProviderTraits(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const { provider, traits } = await store.read(() => providerTraits(request.param('uuid')))
  const body = { traits: names(traits), resource_provider_generation: provider.generation }
  return { status: 200, body, modified: newest(traits, clock.now()) }
}

putProviderTraits.operation = {
  summary: 'Set the traits of a resource provider',
  body: [traitSet],
  answers: { 200: OfProvider },
} satisfies Operation

export async function putProviderTraits(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const wanted = request.body(traitSet)
  const now = clock.now()
  const { generation, traits } = await store.write(() =>
    setProviderTraits(request.param('uuid'), wanted.traits, wanted.resource_provider_generation, now),
  )
  const body = { traits: names(traits), resource_provider_generation: generation }
  return { status: 200, body, modified: newest(traits, now) }
}

deleteProviderTraits.operation = {
  summary: 'Take all traits from a resource provider',
  answers: { 204: null },
} satisfies Operation

export async function deleteProviderTraits(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  await store.write(() => setProviderTraits(request.param('uuid'), [], null, clock.now()))
  return { status: 204 }
}
