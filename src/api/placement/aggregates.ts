// /resource_providers/{uuid}/aggregates
import { providerAggregates, setProviderAggregates } from '../../ledger/aggregates.ts'
import { findProvider } from '../../ledger/providers.ts'
import { aggregateKey } from '../../ledger/uuid.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Count, from, named } from '../shapes.ts'
import type { Answer, PlacementRequest } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

const Aggregates = Type.Array(Type.String({ format: 'uuid' }), { uniqueItems: true })
const bareList = check(Aggregates)
const withGeneration = check(
  Type.Object(
    { aggregates: Aggregates, resource_provider_generation: from(since('aggregateGeneration'), Type.Integer()) },
    { additionalProperties: false },
  ),
)

const Shown = named('Aggregates', {
  aggregates: Type.Array(Type.String({ format: 'uuid' })),
  resource_provider_generation: from(since('aggregateGeneration'), Count),
})

showAggregates.operation = {
  summary: 'Show the aggregates of a resource provider',
  answers: { 200: Shown },
} satisfies Operation

export async function showAggregates(request: PlacementRequest): Promise<Answer> {
  const { generation, aggregates } = await request.context.store.read(() => providerAggregates(request.param('uuid')))
  return show(request, aggregates, generation)
}

putAggregates.operation = {
  summary: 'Set the aggregates of a resource provider',
  body: [withGeneration, bareList],
  answers: { 200: Shown },
} satisfies Operation

export async function putAggregates(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const uuid = request.param('uuid')
  const wanted = await bodyOf(request, () =>
    request.has.aggregateGeneration
      ? request.body(withGeneration)
      : { aggregates: request.body(bareList), resource_provider_generation: null },
  )
  // As upstream, they are shown as they were sent.
  const aggregates = [...Map.groupBy(wanted.aggregates, aggregateKey).values()].map(([first]) => first!)
  const generation = await store.write(() =>
    setProviderAggregates(uuid, aggregates, wanted.resource_provider_generation, clock.now()),
  )
  return show(request, aggregates, generation)
}

/** The body. If it is malformed, a provider that doesn't exist is what the client is told first. */
async function bodyOf<T>(request: PlacementRequest, read: () => T): Promise<T> {
  try {
    return read()
  } catch (error) {
    await request.context.store.read(() => findProvider(request.param('uuid')))
    throw error
  }
}

function show({ has, context }: PlacementRequest, aggregates: readonly string[], generation: number): Answer {
  const body = has.aggregateGeneration ? { aggregates, resource_provider_generation: generation } : { aggregates }
  return { status: 200, body, modified: context.clock.now() }
}
