// The outbox: what is to be delivered, in order for each subject, by any process, until it is.
import { type Selectable, sql } from 'kysely'
import { problem } from '../problems/problem.ts'
import type { JsonText } from '../shared/json.ts'
import { limits } from '../shared/limits.ts'
import type { Schema } from '../store/schema.ts'
import type { DeliveryId, WebhookId } from '../store/schema/ids.ts'
import { bulk, command, query } from '../store/statement.ts'
import { all, one, type Read, run, runAll, type Write } from '../store/transaction.ts'
import type { Place } from './dealing.ts'
import type { Reply } from './verdict.ts'

type Row = Selectable<Schema['deliveries']>
export type Delivery = Omit<Row, 'body'>

const SHOWN = [
  'id',
  'webhook_id',
  'project_id',
  'message',
  'type',
  'subject',
  'status',
  'due_at',
  'attempts',
  'failures',
  'first_at',
  'created_at',
  'answered_at',
  'answer_status',
  'answer_ms',
  'answer_text',
  'error',
] as const satisfies (keyof Delivery)[]

type NewDelivery = Pick<
  Row,
  'webhook_id' | 'project_id' | 'message' | 'type' | 'subject' | 'body' | 'due_at' | 'created_at'
>

/** Of the pending ones about a subject only the oldest is due. */
export const addDeliveries = bulk<NewDelivery>(
  {
    webhook_id: 'bigint',
    project_id: 'text',
    message: 'text',
    type: 'text',
    subject: 'text',
    body: 'text',
    due_at: 'bigint',
    created_at: 'bigint',
  },
  (db, r, on) =>
    on.insert(db.insertInto('deliveries'), {
      webhook_id: r.webhook_id,
      project_id: r.project_id,
      message: r.message,
      type: r.type,
      subject: r.subject,
      body: r.body,
      status: sql`'pending'`,
      due_at: r.due_at,
      created_at: r.created_at,
    }),
)
const pendingOf = query((db, a: { webhooks: readonly WebhookId[] }, on) =>
  db
    .selectFrom('deliveries')
    .select(['webhook_id', 'subject'])
    .select(e => e.fn.countAll<number>().as('count'))
    .where('status', '=', 'pending')
    .where(on.isIn('webhook_id', a.webhooks, 'bigint'))
    .groupBy(['webhook_id', 'subject']),
)
const lastOf = query((db, a: { webhook: WebhookId; limit: number }) =>
  db
    .selectFrom('deliveries')
    .select(SHOWN)
    .where('webhook_id', '=', a.webhook)
    .orderBy('id', 'desc')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const secretsOf = query((db, a: { webhooks: readonly WebhookId[] }, on) =>
  db
    .selectFrom('webhooks')
    .select(['id', 'uuid', 'url', 'secret', 'old_secret', 'old_secret_until'])
    .where(on.isIn('id', a.webhooks, 'bigint')),
)
type Answered = Pick<Row, 'status' | 'due_at' | 'answer_status' | 'answer_ms' | 'answer_text' | 'error'>
const answer = command((db, a: Answered & { id: DeliveryId; attempts: number; failed: number; now: number }) =>
  db
    .updateTable('deliveries')
    .set(e => ({
      status: a.status,
      due_at: a.due_at,
      failures: e('failures', '+', sql<number>`cast(${a.failed} as bigint)`),
      answered_at: a.now,
      answer_status: a.answer_status,
      answer_ms: a.answer_ms,
      answer_text: a.answer_text,
      error: a.error,
    }))
    .where('id', '=', a.id)
    .where('attempts', '=', a.attempts)
    .where('status', '=', 'pending'),
)
const putBack = command((db, a: { id: DeliveryId; attempts: number; now: number }) =>
  db
    .updateTable('deliveries')
    .set({ due_at: a.now })
    .where('id', '=', a.id)
    .where('attempts', '=', a.attempts)
    .where('due_at', 'is not', null),
)
// If the oldest has a due time already, it is under way or rests, and nobody has to send it now.
const promote = command((db, a: { webhook: WebhookId; subject: string; now: number }) =>
  db
    .updateTable('deliveries')
    .set({ due_at: a.now })
    .where('due_at', 'is', null)
    .where('id', '=', e =>
      e
        .selectFrom('deliveries as d')
        .select(f => f.fn.min('d.id').as('id'))
        .where('d.webhook_id', '=', a.webhook)
        .where('d.subject', '=', a.subject)
        .where('d.status', '=', 'pending'),
    ),
)
const postpone = command((db, a: { webhook: WebhookId; at: number }) =>
  db.updateTable('deliveries').set({ due_at: a.at }).where('webhook_id', '=', a.webhook).where('due_at', '<', a.at),
)
/** The oldest about each subject is due now, and its tries begin anew. */
export const makeDue = command((db, a: { id: WebhookId; now: number }) =>
  db
    .updateTable('deliveries')
    .set({ due_at: a.now, failures: 0, first_at: null })
    .where('id', 'in', e =>
      e
        .selectFrom('deliveries as d')
        .select(f => f.fn.min('d.id').as('id'))
        .where('d.webhook_id', '=', a.id)
        .where('d.status', '=', 'pending')
        .groupBy('d.subject'),
    ),
)
export const unsetDue = command((db, a: { id: WebhookId }) =>
  db.updateTable('deliveries').set({ due_at: null }).where('webhook_id', '=', a.id).where('due_at', 'is not', null),
)
export const dropPending = command((db, a: { id: WebhookId }) =>
  db
    .updateTable('deliveries')
    .set({ status: 'dropped', due_at: null })
    .where('webhook_id', '=', a.id)
    .where('status', '=', 'pending'),
)
const dropOne = command((db, a: { id: DeliveryId; webhook: WebhookId }) =>
  db
    .updateTable('deliveries')
    .set({ status: 'dropped', due_at: null })
    .where('id', '=', a.id)
    .where('webhook_id', '=', a.webhook)
    .where('status', '=', 'pending')
    .returning(SHOWN),
)
const pruneOne = command((db, a: { webhook: WebhookId; kept: number }) =>
  db
    .deleteFrom('deliveries')
    .where('webhook_id', '=', a.webhook)
    .where('status', '<>', 'pending')
    .where('id', '<=', e =>
      e
        .selectFrom('deliveries as d')
        .select('d.id')
        .where('d.webhook_id', '=', a.webhook)
        .where('d.status', '<>', 'pending')
        .orderBy('d.id', 'desc')
        .limit(1)
        .offset(sql<number>`cast(${a.kept} as bigint)`),
    ),
)

/** How many are pending, by webhook and subject. */
export const pendingBySubject = (webhooks: readonly WebhookId[]) => all(pendingOf({ webhooks }))

export const lastDeliveries = (webhook: WebhookId, limit: number): Read<Delivery[]> => all(lastOf({ webhook, limit }))

/** A delivery that this process has until its term ends, and the place that it takes up. */
export interface Taken extends Place {
  readonly id: DeliveryId
  readonly subject: string
  /** This try: another process that took it since has another one. */
  readonly attempts: number
  readonly failures: number
  readonly firstAt: number
  readonly message: { readonly id: string; readonly body: JsonText<object> }
  readonly target: Target
}

/** Where a message goes, and what it is signed with. */
export interface Target {
  readonly uuid: string
  readonly url: string
  readonly secrets: readonly string[]
}

export function* targetsOf(webhooks: readonly WebhookId[], now: number): Read<Map<WebhookId, Target>> {
  const rows = yield* all(secretsOf({ webhooks }))
  return new Map(
    rows.map(({ id, uuid, url, secret, old_secret, old_secret_until: until }) => {
      const old = until !== null && until > now ? old_secret : null
      return [id, { uuid, url, secrets: [secret, old].filter(one => one !== null) }]
    }),
  )
}

/** Writes down the answer to a try. False when another process has taken it since, or nobody waits for it any more. */
export function* writeAnswer(
  { id, attempts }: Taken,
  { status: answer_status, ms: answer_ms, text: answer_text, error }: Reply,
  becomes: Pick<Row, 'status' | 'due_at'>,
  now: number,
): Write<boolean> {
  const failed = error === null ? 0 : 1
  return (
    (yield* run(answer({ id, attempts, ...becomes, failed, answer_status, answer_ms, answer_text, error, now }))) > 0
  )
}

/** Another process may take it at once. */
export const giveBack = ({ id, attempts }: Taken, now: number): Write<number> => run(putBack({ id, attempts, now }))

/** The next about the subject is due. */
export const makeNextDue = ({ webhook, subject }: Pick<Taken, 'webhook' | 'subject'>, now: number): Write<number> =>
  run(promote({ webhook, subject, now }))

/** Nothing of the webhook is due before then. */
export const restUntil = (webhook: WebhookId, at: number): Write<number> => run(postpone({ webhook, at }))

/** Gives up on a delivery, so that those behind it can go. */
export function* dropDelivery(text: string, webhook: WebhookId, isActive: boolean, now: number): Write<Delivery> {
  const id = (/^\d{1,15}$/.test(text) ? Number(text) : 0) as DeliveryId
  const dropped = yield* one(dropOne({ id, webhook }))
  if (!dropped) throw problem('delivery_not_found', { id: text })
  if (isActive) yield* makeNextDue({ webhook, subject: dropped.subject }, now)
  return dropped
}

/** Keeps the last ones that are done. */
export const prune = (webhooks: readonly WebhookId[]): Write<number[]> =>
  runAll(webhooks.map(webhook => pruneOne({ webhook, kept: limits.deliveriesKept })))
