// Who has what: the claims of a consumer, and the claims on a provider.
import type { ProviderId } from '../../store/schema/ids.ts'
import { inRow, query } from '../../store/statement.ts'
import { all, type Read, together } from '../../store/transaction.ts'
import { findProvider } from '../providers.ts'
import { className } from '../resource-classes.ts'

export interface ConsumerClaim {
  provider: string
  provider_generation: number
  resource_class: string
  used: number
  created_at: number
  project_id: string
  user_id: string
  type: string | null
  generation: number
}

const consumerByUuid = query((db, a: { consumer: string }) =>
  db.selectFrom('consumers').select(['project_id', 'user_id', 'type', 'generation']).where('uuid', '=', a.consumer),
)
const claimsByConsumer = query((db, a: { consumer: string }, on) =>
  db
    .selectFrom('claims as l')
    .select(['l.used', 'l.created_at', className('l.class_id').as('resource_class')])
    .select(inRow<string>('providers', 'uuid', 'l.provider_id').as('provider'))
    .select(inRow<number>('providers', 'generation', 'l.provider_id').as('provider_generation'))
    .where(on.isAmong('l.consumer_id', db.selectFrom('consumers').select('id').where('uuid', '=', a.consumer)))
    .orderBy(on.unindexed('l.provider_id'))
    .orderBy(on.unindexed('l.class_id')),
)
const claimsByProvider = query((db, a: { provider: ProviderId }, on) =>
  db
    .selectFrom('claims as l')
    .select(['l.used', 'l.created_at', className('l.class_id').as('resource_class')])
    .select(inRow<string>('consumers', 'uuid', 'l.consumer_id').as('consumer'))
    .select(inRow<number>('consumers', 'generation', 'l.consumer_id').as('consumer_generation'))
    .where('l.provider_id', '=', a.provider)
    .orderBy(on.unindexed('l.consumer_id'))
    .orderBy(on.unindexed('l.class_id')),
)

export function* consumerClaims(consumer: string): Read<ConsumerClaim[]> {
  const [[found], claims] = yield* together(consumerByUuid({ consumer }), claimsByConsumer({ consumer }))
  return found ? claims.map(claim => ({ ...claim, ...found })) : []
}

export function* providerClaims(uuid: string) {
  const provider = yield* findProvider(uuid)
  return { provider, claims: yield* all(claimsByProvider({ provider: provider.id })) }
}
