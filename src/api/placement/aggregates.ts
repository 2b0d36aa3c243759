// /resource_providers/{uuid}/aggregates
import { Type } from 'typebox'
import { providerAggregates, setProviderAggregates } from '../../ledger/aggregates.ts'
import { findProvider } from '../../ledger/providers.ts'
import { check } from '../schema.ts'
import type { Answer, PlacementRequest } from './request.ts'

const Aggregates = Type.Array(Type.String({ format: 'uuid' }), { uniqueItems: true })
const bareList = check(Aggregates)
const withGeneration = check(
  Type.Object(
    { aggregates: Aggregates, resource_provider_generation: Type.Integer() },
    { additionalProperties: false },
  ),
)

export async function showAggregates(request: PlacementRequest): Promise<Answer> {
  const { generation, aggregates } = await request.context.store.read(() => providerAggregates(request.param('uuid')))
  return show(request, aggregates, generation)
}

export async function putAggregates(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const uuid = request.param('uuid')
  await store.read(() => findProvider(uuid))
  const wanted = request.has.aggregateGeneration
    ? request.body(withGeneration)
    : { aggregates: request.body(bareList), resource_provider_generation: null }
  const generation = await store.write(() =>
    setProviderAggregates(uuid, wanted.aggregates, wanted.resource_provider_generation, clock.now()),
  )
  return show(request, wanted.aggregates, generation)
}

function show({ has, context }: PlacementRequest, aggregates: readonly string[], generation: number): Answer {
  const body = has.aggregateGeneration ? { aggregates, resource_provider_generation: generation } : { aggregates }
  return { status: 200, body, modified: context.clock.now() }
}
