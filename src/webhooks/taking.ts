// Takes what is due out of the outbox, as far as there are places for it.
import { sql } from 'kysely'
import { limits } from '../shared/limits.ts'
import type { DeliveryId, WebhookId } from '../store/schema/ids.ts'
import { bulk, command, query } from '../store/statement.ts'
import { all, type Read, run, together, type Write } from '../store/transaction.ts'
import type { Lane, Place, Waiting } from './dealing.ts'
import { type Taken, targetsOf } from './outbox.ts'
import { isMail } from './targets.ts'
import type { Webhook } from './webhooks.ts'

// By webhook, each by its index: the due ones of one webhook must not have to be read to find those of another.
const waiting = query((db, a: { now: number }) =>
  db
    .selectFrom('webhooks')
    .select(['id', 'url', 'project_id', 'maker_user', 'failing_since'])
    .select(e => [
      e
        .selectFrom('deliveries as d')
        .select(f => f.fn.min<number | null>('d.due_at').as('at'))
        .whereRef('d.webhook_id', '=', 'webhooks.id')
        .where('d.due_at', 'is not', null)
        .as('next_at'),
      e
        .selectFrom(
          e
            .selectFrom('deliveries as d')
            .select('d.id')
            .whereRef('d.webhook_id', '=', 'webhooks.id')
            .where('d.due_at', '<=', a.now)
            .orderBy('d.due_at')
            .limit(limits.deliveryLanes.first.ofWebhook)
            .as('few'),
        )
        .select(f => f.fn.countAll<number>().as('count'))
        .as('due'),
    ])
    .where('state', '=', 'active')
    .orderBy('id'),
)
const dueOf = command((db, a: { webhook: WebhookId; now: number; limit: number }, on) =>
  on.lockFree(
    db
      .selectFrom('deliveries')
      .selectAll()
      .where('webhook_id', '=', a.webhook)
      .where('due_at', '<=', a.now)
      .orderBy('due_at')
      .orderBy('id')
      .limit(sql<number>`cast(${a.limit} as bigint)`),
  ),
)
const begin = bulk<{ id: DeliveryId; now: number; until: number }>(
  { id: 'bigint', now: 'bigint', until: 'bigint' },
  (db, r, on) =>
    on.update(
      db.updateTable('deliveries').set(e => ({
        attempts: e('attempts', '+', 1),
        first_at: e.fn.coalesce('first_at', r.now),
        due_at: r.until,
      })),
      'deliveries.id',
      r.id,
    ),
)

/** A webhook that has something to be sent, now or later. */
interface Contender extends Waiting {
  /** When the first of it is due. */
  readonly nextAt: number
}

export function* contenders(now: number): Read<Contender[]> {
  const rows = yield* all(waiting({ now }))
  return rows.flatMap(({ id, next_at, due, ...webhook }) =>
    next_at === null
      ? []
      : [{ webhook: id, owner: ownerOf(webhook), lane: laneOf(webhook), nextAt: next_at, due: due! }],
  )
}

/** Those of all projects are their makers' own: else all admins would share one owner's places. */
const ownerOf = ({ project_id, maker_user }: Pick<Webhook, 'project_id' | 'maker_user'>) =>
  project_id === null ? `user ${maker_user}` : `project ${project_id}`

function laneOf({ url, failing_since }: Pick<Webhook, 'url' | 'failing_since'>): Lane {
  if (isMail(url)) return 'mail'
  return failing_since === null ? 'first' : 'again'
}

/** Takes one delivery for each place, those that have been due for longest. Other processes may have been faster. */
export function* take(places: readonly Place[], now: number): Write<Taken[]> {
  const byWebhook = Map.groupBy(places, ({ webhook }) => webhook)
  const dues = [...byWebhook].map(([webhook, { length }]) => dueOf({ webhook, now, limit: length }))
  const rows = (yield* together(...dues)).flat()
  if (rows.length === 0) return []
  const until = now + limits.deliveryTermMs
  yield* run(begin({ rows: rows.map(({ id }) => ({ id, now, until })) }))
  const targets = yield* targetsOf([...byWebhook.keys()], now)
  return rows.map((row): Taken => {
    const { webhook, owner, lane } = byWebhook.get(row.webhook_id)![0]!
    return {
      id: row.id,
      webhook,
      owner,
      lane,
      subject: row.subject,
      attempts: row.attempts + 1,
      failures: row.failures,
      firstAt: row.first_at ?? now,
      message: { id: row.message, body: row.body },
      target: targets.get(row.webhook_id)!,
    }
  })
}
