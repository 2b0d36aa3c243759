// /resource_providers/{uuid}/usages and /usages
import { projectUsages, projectUsagesByType, providerUsages, type TypeUsages } from '../../ledger/usages.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { byName, Count, from, named } from '../shapes.ts'
import type { Answer, PlacementRequest } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

const Id = Type.String({ minLength: 1, maxLength: 255 })
const closed = { additionalProperties: false }
const whose = check(Type.Object({ project_id: Id, user_id: Type.Optional(Id) }, closed))
const whoseByType = check(
  Type.Object(
    {
      project_id: Id,
      user_id: Type.Optional(Id),
      // Upstream's pattern, which accepts anything that begins with "all".
      consumer_type: Type.Optional(
        from(
          since('consumerTypes'),
          Type.String({ pattern: '^[A-Z0-9_]+$|^all|^unknown$', minLength: 1, maxLength: 255 }),
        ),
      ),
    },
    closed,
  ),
)

/** The type shown for consumers without a type. */
const UNKNOWN = 'unknown'

const Amounts = byName(Count)
const OfType = Type.Unsafe<object>({
  type: 'object',
  properties: { consumer_count: Count },
  required: ['consumer_count'],
  additionalProperties: Count,
})

showProviderUsages.operation = {
  summary: 'Show how much of a resource provider is used',
  answers: { 200: named('ProviderUsages', { resource_provider_generation: Count, usages: Amounts }) },
} satisfies Operation

export async function showProviderUsages(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const { generation, usages } = await store.read(() => providerUsages(request.param('uuid')))
  const body = { resource_provider_generation: generation, usages: Object.fromEntries(usages) }
  return { status: 200, body, modified: clock.now() }
}

showTotalUsages.operation = {
  summary: 'Show what a project uses, by the type of consumer',
  query: [whoseByType, whose],
  answers: { 200: from(since('consumerTypes'), named('Usages', { usages: byName(OfType) })) },
} satisfies Operation

export async function showTotalUsages(request: PlacementRequest): Promise<Answer> {
  const modified = request.context.clock.now()
  if (request.has.consumerTypes) return { status: 200, body: { usages: await usagesByType(request) }, modified }
  const { project_id, user_id } = request.checkedQuery(whose)
  const wanted = { project: project_id, user: user_id ?? null }
  const usages = await request.context.store.read(() => projectUsages(wanted))
  return { status: 200, body: { usages: Object.fromEntries(usages) }, modified }
}

async function usagesByType(request: PlacementRequest): Promise<object> {
  const { project_id, user_id, consumer_type } = request.checkedQuery(whoseByType)
  const wanted = { project: project_id, user: user_id ?? null }
  const byType = await request.context.store.read(() => projectUsagesByType(wanted))
  if (consumer_type === 'all') return byType.size === 0 ? {} : { all: show(sum([...byType.values()])) }
  const chosen = Array.from(byType, ([type, usages]) => [type ?? UNKNOWN, usages] as const).filter(
    ([type]) => consumer_type === undefined || type === consumer_type,
  )
  return Object.fromEntries(chosen.map(([type, usages]) => [type, show(usages)]))
}

const show = ({ consumers, usages }: TypeUsages) => ({ consumer_count: consumers, ...Object.fromEntries(usages) })

function sum(parts: readonly TypeUsages[]): TypeUsages {
  const usages = new Map<string, number>()
  for (const part of parts) {
    for (const [name, used] of part.usages) usages.set(name, (usages.get(name) ?? 0) + used)
  }
  return { consumers: parts.reduce((total, part) => total + part.consumers, 0), usages }
}
