// Who has what: the claims of a consumer, and the claims on a provider.
import { sql } from 'kysely'
import { problem } from '../../problems/problem.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { inRow, query } from '../../store/statement.ts'
import { all, type Read, together } from '../../store/transaction.ts'
import { findProvider, type Provider, providerByUuid } from '../providers.ts'
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

interface ProviderClaim {
  consumer: string
  consumer_generation: number
  resource_class: string
  used: number
  created_at: number
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

// Counted only as far as it matters.
const claimsUpTo = query((db, a: { provider: string; count: number }, on) =>
  db
    .selectFrom(
      db
        .selectFrom('claims')
        .select('provider_id')
        .where(on.isAmong('provider_id', db.selectFrom('providers').select('id').where('uuid', '=', a.provider)))
        .limit(sql<number>`cast(${a.count} as bigint)`)
        .as('l'),
    )
    .select(sql<number>`count(*)`.as('claims')),
)

export function* consumerClaims(consumer: string): Read<ConsumerClaim[]> {
  const [[found], claims] = yield* together(consumerByUuid({ consumer }), claimsByConsumer({ consumer }))
  return found ? claims.map(claim => ({ ...claim, ...found })) : []
}

interface OfProvider {
  provider: Provider
  claims: ProviderClaim[]
}

export function* providerClaims(uuid: string): Read<OfProvider> {
  const provider = yield* findProvider(uuid)
  return { provider, claims: yield* all(claimsByProvider({ provider: provider.id })) }
}

/** Null if there are more than this many claims: then `providerClaims` is a long read. */
export function* fewProviderClaims(uuid: string, most: number): Read<OfProvider | null> {
  const [[provider], [counted]] = yield* together(
    providerByUuid({ uuid }),
    claimsUpTo({ provider: uuid, count: most + 1 }),
  )
  if (provider === undefined) throw problem('provider_not_found', { provider: uuid })
  if (counted!.claims > most) return null
  return { provider, claims: yield* all(claimsByProvider({ provider: provider.id })) }
}
