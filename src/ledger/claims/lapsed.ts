// Consumers with an end: past it, what they have is anyone's.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import { command, type Tools } from '../../store/statement.ts'
import { all, run, type Write } from '../../store/transaction.ts'

export interface Lapsed {
  uuid: string
  managed_by: string | null
}

/** The consumers that have something of the providers. */
const holders = (db: Kysely<Schema>, a: { providers: readonly string[] }, on: Tools) => {
  const named = db.selectFrom('providers').select('id').where(on.isIn('uuid', a.providers))
  const claims = db.selectFrom('claims').select('consumer_id')
  return claims.where(on.isAmong('provider_id', named))
}

// Locked, so that one who is just given more time is not counted among them.
const lapsedOn = command((db, a: { providers: readonly string[]; now: number }, on) =>
  on.lock(
    db
      .selectFrom('consumers')
      .select(['uuid', 'managed_by'])
      .where('expires_at', '<=', a.now)
      .where(on.isAmong('id', holders(db, a, on)))
      .orderBy(on.unindexed('id')),
  ),
)
export const lapsedOf = command((db, a: { owner: string; now: number; limit: number }, on) =>
  on.lock(
    db
      .selectFrom('consumers')
      .select(['uuid', 'managed_by'])
      .where('expires_at', '<=', a.now)
      .where('managed_by', '=', a.owner)
      .orderBy(on.unindexed('id'))
      .limit(sql<number>`cast(${a.limit} as bigint)`),
  ),
)
const setExpiry = command((db, a: { consumer: string; expires_at: number | null }) =>
  db.updateTable('consumers').set({ expires_at: a.expires_at }).where('uuid', '=', a.consumer),
)

/** Those who have something of these providers though their time is over. */
export function* lapsedConsumers(providers: readonly string[], now: number): Write<Lapsed[]> {
  return yield* all(lapsedOn({ providers, now }))
}

export function* expireConsumer(consumer: string, expiresAt: number | null): Write<void> {
  yield* run(setExpiry({ consumer, expires_at: expiresAt }))
}
