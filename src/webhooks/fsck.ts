// The invariants of webhooks, each as a query that counts violations.
import { sql } from 'kysely'
import { databaseNow } from '../clock/database-now.ts'
import { limits } from '../shared/limits.ts'
import { capitals, count, danglings, type Invariants } from '../store/fsck.ts'
import { query } from '../store/statement.ts'

/** Nobody is told to come back later than this. */
const LATE_MS = limits.deliveryTriesMs + limits.retryAfterMsMax + limits.deliveryTermMs

const OLDER = `select 1 from deliveries o where o.webhook_id = d.webhook_id and o.subject = d.subject
  and o.status = 'pending' and o.id < d.id`

export const webhookInvariants: Invariants = {
  'every delivery belongs to a webhook': danglings(['deliveries.webhook_id', 'webhooks.id']),
  'of the deliveries about one subject only the oldest is due, while its webhook is active, and no other': count(`
    select 1 from deliveries d join webhooks w on w.id = d.webhook_id
    where d.status = 'pending'
      and (d.due_at is not null) <> (w.state = 'active' and not exists (${OLDER}))`),
  'what was delivered has an answer that says so': count(`
    select 1 from deliveries where status = 'delivered'
      and (answered_at is null or answer_status is null or answer_status not between 200 and 299)`),
  'a delivery is tried again before long': query((db, _: object, on) =>
    db
      .selectFrom('deliveries')
      .select(e => e.fn.countAll<number>().as('count'))
      .where(sql<boolean>`due_at > ${databaseNow(on)} + ${sql.lit(LATE_MS)} + (select ahead_ms from test_clock)`),
  ),
  'a delivery is of its webhook’s project, and named after the webhook': count(`
    select 1 from deliveries d join webhooks w on w.id = d.webhook_id
    where d.project_id <> coalesce(w.project_id, '') or d.message not like 'msg~_' || w.uuid || '~_%' escape '~'`),
  'a webhook has no more that is pending than it may': count(`
    select webhook_id from deliveries where status = 'pending'
    group by webhook_id having count(*) > ${limits.deliveriesPendingMax}`),
  'a webhook’s place in the log is not before what it was sent': query((db, _: object, on) => {
    // msg_, the uuid, and the place.
    const place =
      on.dialect === 'sqlite' ? 'cast(substr(d.message, 42) as integer)' : "split_part(d.message, '_', 3)::bigint"
    return db
      .selectFrom('webhooks as w')
      .select(e => e.fn.countAll<number>().as('count'))
      .where(
        sql<boolean>`exists (select 1 from deliveries d where d.webhook_id = w.id and ${sql.raw(place)} > w.cursor_sequence and w.missed_at is null)`,
      )
  }),
  'a webhook that is not active says why, and one with a secret can sign': count(`
    select 1 from webhooks where (state <> 'active' and reason is null)
      or (secret is null) <> (url like 'mailto:%') or (old_secret is null) <> (old_secret_until is null)`),
  'webhooks have uuids in small letters': capitals('webhooks.uuid'),
  'no webhook is ahead of the log': count(`
    select 1 from webhooks where cursor_sequence > (select last from log_head)`),
}
