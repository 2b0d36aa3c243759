// /reshaper
import { isLongReshape, reshape } from '../../ledger/reshape.ts'
import type { Operation } from '../operation.ts'
import { check, type Check } from '../schema.ts'
import { byVersion } from './by-version.ts'
import { type ClaimBody, claimsOfMany, manyConsumers } from './claim-bodies.ts'
import { InventorySet, termsByClass } from './inventories.ts'
import type { Answer, PlacementRequest } from './request.ts'
import { byUuid } from './uuid-keys.ts'
import { Type } from '../../shared/type.ts'

const Inventories = Type.Record(Type.String({ pattern: '^[0-9a-fA-F-]{36}$' }), InventorySet, {
  minProperties: 1,
  additionalProperties: false,
})

interface ReshapeBody {
  inventories: Record<string, { resource_provider_generation: number; inventories: Record<string, { total: number }> }>
  allocations: Record<string, ClaimBody>
}

const reshapeBody = byVersion(
  manyConsumers(0).map(([word, allocations]) => [
    word,
    check(
      Type.Object({ inventories: Inventories, allocations }, { additionalProperties: false }),
    ) as unknown as Check<ReshapeBody>,
  ]),
)

postReshape.operation = {
  summary: 'Move inventories, and the claims on them, between resource providers at once',
  body: reshapeBody.all,
  answers: { 204: null },
} satisfies Operation

export async function postReshape(request: PlacementRequest): Promise<Answer> {
  const { store, clock } = request.context
  const body = await request.longBody(reshapeBody(request.version))
  const inventories = byUuid(
    Object.entries(body.inventories).map(([provider, wanted]) => [
      provider,
      { generation: wanted.resource_provider_generation, inventories: termsByClass(wanted.inventories) },
    ]),
  )
  const claims = await claimsOfMany(body.allocations, request.has)
  const wanted = { inventories, claims }
  await store.write(() => reshape(wanted, clock.now()), { isLong: isLongReshape(wanted) })
  return { status: 204 }
}
