// Consumers that expire: after that, others may take what they have. Only holds do: an end that is written beside any
// other consumer is damage, and takes nothing from anyone.
import { sql } from 'kysely'
import { bulk, command } from '../../store/statement.ts'
import { run, type Write } from '../../store/transaction.ts'

/** The type of consumers that may have an end. */
export const ENDING = 'RESERVATION'

// Locked, so that a consumer whose expiry is just being extended isn't returned.
export const lapsedOf = command((db, a: { owner: string; now: number; limit: number }, on) =>
  on.lock(
    db
      .selectFrom('consumers')
      .select(['uuid', 'managed_by'])
      .where('expires_at', '<=', a.now)
      .where('managed_by', '=', a.owner)
      .where('type', '=', sql.lit(ENDING))
      .orderBy(on.unindexed('id'))
      .limit(sql<number>`cast(${a.limit} as bigint)`),
  ),
)
const setExpiry = command((db, a: { consumer: string; expires_at: number | null }) =>
  db.updateTable('consumers').set({ expires_at: a.expires_at }).where('uuid', '=', a.consumer),
)

/** Sets when each of these expires. */
export const expireConsumers = bulk<{ uuid: string; expires_at: number }>(
  { uuid: 'text', expires_at: 'bigint' },
  (db, r, on) => on.update(db.updateTable('consumers'), 'consumers.uuid', r.uuid).set({ expires_at: r.expires_at }),
)

export function* expireConsumer(consumer: string, expiresAt: number | null): Write<void> {
  yield* run(setExpiry({ consumer, expires_at: expiresAt }))
}
