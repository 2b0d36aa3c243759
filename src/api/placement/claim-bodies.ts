// The bodies of claims, which grew from version to version, and the claims that they mean.
import type { Static } from 'typebox'
import type { ConsumerClaims, Resources } from '../../ledger/claims/claim.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { limits } from '../../shared/limits.ts'
import { runYielding } from '../../shared/yielding.ts'
import { byUuid } from './uuid-keys.ts'
import type { Has } from './versions.ts'
import { Type } from '../../shared/type.ts'

const closed = { additionalProperties: false }
const Amounts = Type.Record(Type.String({ pattern: '^[A-Z0-9_]+$' }), Type.Integer({ minimum: 1 }), {
  ...closed,
  minProperties: 1,
})
const UUID_KEY = Type.String({ pattern: '^[0-9a-fA-F-]{36}$' })
const Id = Type.String({ minLength: 1, maxLength: 255 })
const Owners = { project_id: Id, user_id: Id }

const AllocationList = Type.Array(
  Type.Object(
    { resource_provider: Type.Object({ uuid: Type.String({ format: 'uuid' }) }, closed), resources: Amounts },
    closed,
  ),
  { minItems: 1 },
)
const KeyedAllocations = (minProperties: 0 | 1) =>
  Type.Record(UUID_KEY, Type.Object({ generation: Type.Optional(Type.Integer()), resources: Amounts }, closed), {
    ...closed,
    minProperties,
  })

const ConsumerGeneration = { consumer_generation: Type.Union([Type.Integer(), Type.Null()]) }
const Mappings = {
  mappings: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      minProperties: 1,
      patternProperties: {
        '[a-zA-Z0-9_-]{1,64}': { type: 'array', minItems: 1, items: { type: 'string', format: 'uuid' } },
      },
    }),
  ),
}
const ConsumerType = { consumer_type: Type.String({ pattern: '^[A-Z0-9_]+$', minLength: 1, maxLength: 255 }) }

const List = Type.Object({ allocations: AllocationList }, closed)
const ListWithOwners = Type.Object({ allocations: AllocationList, ...Owners }, closed)
const Keyed = Type.Object({ allocations: KeyedAllocations(1), ...Owners }, closed)
const Deletable = Type.Object({ allocations: KeyedAllocations(0), ...Owners }, closed)
const Generations = Type.Object({ ...Deletable.properties, ...ConsumerGeneration }, closed)
const WithMappings = Type.Object({ ...Generations.properties, ...Mappings }, closed)
const WithTypes = Type.Object({ ...WithMappings.properties, ...ConsumerType }, closed)

/** One consumer's body, newest first: the first one whose feature the version has applies. */
export const ONE_CONSUMER = [
  ['consumerTypes', WithTypes],
  ['mappings', WithMappings],
  ['consumerGeneration', Generations],
  ['keyedAllocations', Keyed],
  ['consumerOwners', ListWithOwners],
  [null, List],
] as const

/** Many consumers by uuid; `minProperties` is 0 for the reshaper. */
export const manyConsumers = (minProperties: 0 | 1) =>
  [
    ['consumerTypes', Type.Record(UUID_KEY, WithTypes, { ...closed, minProperties })],
    ['mappings', Type.Record(UUID_KEY, WithMappings, { ...closed, minProperties })],
    ['consumerGeneration', Type.Record(UUID_KEY, Generations, { ...closed, minProperties })],
    [null, Type.Record(UUID_KEY, Deletable, { ...closed, minProperties })],
  ] as const

export type ClaimBody = Static<(typeof ONE_CONSUMER)[number][1]>

// The owner of claims before 1.8, when clients didn't name one.
const NOBODY = '00000000-0000-0000-0000-000000000000'

export function claimsOf(consumer: string, body: ClaimBody, has: Has): ConsumerClaims {
  return {
    consumer,
    projectId: 'project_id' in body ? body.project_id : NOBODY,
    userId: 'user_id' in body ? body.user_id : NOBODY,
    type: 'consumer_type' in body ? body.consumer_type : undefined,
    generation: has.consumerGeneration && 'consumer_generation' in body ? body.consumer_generation : undefined,
    resources: resourcesOf(body.allocations),
  }
}

/** The claims of many consumers, with turns for others when they are thousands. */
export const claimsOfMany = (bodies: Record<string, ClaimBody>, has: Has): Promise<ConsumerClaims[]> =>
  runYielding(eachClaims(bodies, has))

function* eachClaims(bodies: Record<string, ClaimBody>, has: Has): Generator<undefined, ConsumerClaims[], void> {
  const claims: ConsumerClaims[] = []
  for (const [consumer, body] of byUuid(Object.entries(bodies))) {
    claims.push(claimsOf(consumer, body, has))
    if (claims.length % limits.listItemsPerTurn === 0) yield
  }
  return claims
}

function resourcesOf(allocations: ClaimBody['allocations']): Resources {
  const amounts = (resources: Record<string, number>) => new Map(Object.entries(resources))
  if (Array.isArray(allocations)) {
    const uuidOf = (uuid: string) => canonicalUuid(uuid) ?? uuid
    return new Map(allocations.map(one => [uuidOf(one.resource_provider.uuid), amounts(one.resources)]))
  }
  return byUuid(Object.entries(allocations).map(([provider, { resources }]) => [provider, amounts(resources)]))
}
