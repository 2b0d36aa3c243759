// /allocations and /resource_providers/{uuid}/allocations: our claims, which Placement calls allocations.
import { consumerClaims, fewProviderClaims, providerClaims } from '../../ledger/claims/find.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import { runYielding } from '../../shared/yielding.ts'
import { keyed } from '../../http/written.ts'
import type { Operation } from '../operation.ts'
import { check, type Check } from '../schema.ts'
import { byName, Count, from, named, Text } from '../shapes.ts'
import { byVersion } from './by-version.ts'
import { type ClaimBody, claimsOf, claimsOfMany, manyConsumers, ONE_CONSUMER } from './claim-bodies.ts'
import { newest } from './modified.ts'
import type { Answer, PlacementRequest } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

const oneConsumer = byVersion(ONE_CONSUMER.map(([word, schema]) => [word, check(schema)]))
const severalConsumers = byVersion(
  manyConsumers(1).map(([word, schema]) => [word, check(schema) as Check<Record<string, ClaimBody>>]),
)

const Resources = byName(Count)
// The optional members are shown only if the consumer has claims.
const OfConsumer = named('ConsumerAllocations', {
  allocations: byName(named('ProviderShare', { resources: Resources, generation: Count })),
  project_id: Type.Optional(from(since('keyedAllocations'), Text)),
  user_id: Type.Optional(from(since('keyedAllocations'), Text)),
  consumer_generation: Type.Optional(from(since('consumerGeneration'), Count)),
  consumer_type: Type.Optional(from(since('consumerTypes'), Text)),
})
const OfProvider = named('ProviderAllocations', {
  allocations: byName(
    named('ConsumerShare', {
      resources: Resources,
      consumer_generation: from(since('consumerGeneration'), Count),
    }),
  ),
  resource_provider_generation: Count,
})

/** The canonical UUID of the consumer. A name that is no UUID stays as it is, and matches no consumer. */
function consumerIn(request: PlacementRequest): string {
  const given = request.param('consumer_uuid')
  return canonicalUuid(given) ?? given
}

showAllocations.operation = { summary: 'Show what a consumer has', answers: { 200: OfConsumer } } satisfies Operation

export async function showAllocations(request: PlacementRequest): Promise<Answer> {
  const { has, context } = request
  const claims = await context.store.read(() => consumerClaims(consumerIn(request)))
  const allocations: Record<string, { resources: Record<string, number>; generation: number }> = {}
  for (const { provider, provider_generation, resource_class, used } of claims) {
    const shown = (allocations[provider] ??= { resources: {}, generation: provider_generation })
    shown.resources[resource_class] = used
  }
  const body: Record<string, unknown> = { allocations }
  const [first] = claims
  if (first && has.keyedAllocations) {
    body['project_id'] = first.project_id
    body['user_id'] = first.user_id
    if (has.consumerGeneration) body['consumer_generation'] = first.generation
    if (has.consumerTypes) body['consumer_type'] = first.type ?? 'unknown'
  }
  return { status: 200, body, modified: newest(claims, context.clock.now()) }
}

showProviderAllocations.operation = {
  summary: 'Show who has what of a resource provider',
  answers: { 200: OfProvider },
} satisfies Operation

export async function showProviderAllocations(request: PlacementRequest): Promise<Answer> {
  const { has, context } = request
  const { store } = context
  const uuid = request.param('uuid')
  const { provider, claims } =
    (await store.read(() => fewProviderClaims(uuid, limits.listItemsPerTurn))) ??
    (await store.read(() => providerClaims(uuid), { isLong: true }))
  const show = ([first, ...others]: typeof claims) => {
    const { consumer, consumer_generation } = first!
    const resources = Object.fromEntries([first!, ...others].map(({ resource_class, used }) => [resource_class, used]))
    return [consumer, { resources, ...(has.consumerGeneration && { consumer_generation }) }] as const
  }
  const body = {
    allocations: keyed(await runYielding(byConsumer(claims)), show),
    resource_provider_generation: provider.generation,
  }
  return { status: 200, body, modified: newest(claims, context.clock.now()) }
}

/** The claims of each consumer: they are neighbours. */
function* byConsumer<Claim extends { consumer: string }>(
  claims: readonly Claim[],
): Generator<undefined, Claim[][], void> {
  const found: Claim[][] = []
  for (const [i, claim] of claims.entries()) {
    const last = found.at(-1)
    if (last?.[0]!.consumer === claim.consumer) last.push(claim)
    else found.push([claim])
    if (i % limits.listItemsPerTurn === limits.listItemsPerTurn - 1) yield
  }
  return found
}

putAllocations.operation = {
  summary: 'Claim for one consumer, in place of what it has',
  body: oneConsumer.all,
  answers: { 204: null },
} satisfies Operation

export async function putAllocations(request: PlacementRequest): Promise<Answer> {
  const given = request.param('consumer_uuid')
  const consumer = canonicalUuid(given)
  if (consumer === null) throw problem('consumer_malformed', { consumer: given })
  const body = request.body(oneConsumer(request.version))
  const consumers = [claimsOf(consumer, body, request.has)]
  await request.context.claims.submit({ kind: 'replace', consumers, owner: null })
  return { status: 204 }
}

postAllocations.operation = {
  summary: 'Claim for many consumers at once, or for none of them',
  body: severalConsumers.all,
  answers: { 204: null },
} satisfies Operation

export async function postAllocations(request: PlacementRequest): Promise<Answer> {
  const body = await request.longBody(severalConsumers(request.version))
  const consumers = await claimsOfMany(body, request.has)
  await request.context.claims.submit({ kind: 'replace', consumers, owner: null })
  return { status: 204 }
}

deleteAllocations.operation = { summary: 'Release all that a consumer has', answers: { 204: null } } satisfies Operation

export async function deleteAllocations(request: PlacementRequest): Promise<Answer> {
  const consumer = consumerIn(request)
  await request.context.claims.submit({ kind: 'release', consumer, owner: null })
  return { status: 204 }
}
