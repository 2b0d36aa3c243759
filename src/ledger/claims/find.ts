// Who has what: the claims of a consumer, and the claims on a provider.
import { query } from '../../store/statement.ts'
import { all, type Read } from '../../store/transaction.ts'
import { findProvider } from '../providers.ts'

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

const claimsByConsumer = query((db, a: { consumer: string }) =>
  db
    .selectFrom('consumers as c')
    .innerJoin('claims as l', 'l.consumer_id', 'c.id')
    .innerJoin('providers as p', 'p.id', 'l.provider_id')
    .innerJoin('resource_classes as r', 'r.id', 'l.class_id')
    .select(['p.uuid as provider', 'p.generation as provider_generation', 'r.name as resource_class', 'l.used'])
    .select(['l.created_at', 'c.project_id', 'c.user_id', 'c.type', 'c.generation'])
    .where('c.uuid', '=', a.consumer)
    .orderBy('l.provider_id')
    .orderBy('l.class_id'),
)
const claimsByProvider = query((db, a: { provider: number }) =>
  db
    .selectFrom('claims as l')
    .innerJoin('consumers as c', 'c.id', 'l.consumer_id')
    .innerJoin('resource_classes as r', 'r.id', 'l.class_id')
    .select(['c.uuid as consumer', 'c.generation as consumer_generation', 'r.name as resource_class', 'l.used'])
    .select('l.created_at')
    .where('l.provider_id', '=', a.provider)
    .orderBy('l.consumer_id')
    .orderBy('l.class_id'),
)

export function* consumerClaims(consumer: string): Read<ConsumerClaim[]> {
  return yield* all(claimsByConsumer({ consumer }))
}

export function* providerClaims(uuid: string) {
  const provider = yield* findProvider(uuid)
  return { provider, claims: yield* all(claimsByProvider({ provider: provider.id })) }
}
