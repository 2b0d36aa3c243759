// Takes events from the log into the outbox: the deliveries and the places in the log change in one transaction, so no
// event is skipped or put in twice, whatever dies.
import { cloudEventOf, type Cursor, endOf, type HoldfastEvent, isAfter } from '../events/event.ts'
import type { EventKind } from '../events/kinds.ts'
import { eventsAfter } from '../events/read.ts'
import { isReadable, jsonText, TEXTS } from '../shared/json.ts'
import { limits } from '../shared/limits.ts'
import type { WebhookId } from '../store/schema/ids.ts'
import { bulk, command, query } from '../store/statement.ts'
import { all, type Read, runAll, type Write } from '../store/transaction.ts'
import { kindsOf, type Sees, wishOf } from './filter.ts'
import { addDeliveries, pendingBySubject } from './outbox.ts'
import { OPEN, type Webhook } from './webhooks.ts'

// Those who are furthest behind come first. Others may have locked some of them, and look after these themselves.
const lockActive = command((db, _: object, on) =>
  on.lockFree(
    db
      .selectFrom('webhooks')
      .select(OPEN)
      .where('state', '=', 'active')
      .orderBy('cursor_sequence')
      .orderBy('cursor_part')
      .orderBy('id'),
  ),
)
const active = query((db, _: object) =>
  db
    .selectFrom('webhooks')
    .select(['types', 'cursor_sequence', 'cursor_part'])
    .where('state', '=', 'active')
    .orderBy('cursor_sequence')
    .orderBy('cursor_part'),
)
const moveCursors = bulk<{ id: WebhookId; sequence: number; part: number; missed_at: number | null }>(
  { id: 'bigint', sequence: 'bigint', part: 'bigint', missed_at: 'bigint' },
  (db, r, on) =>
    on.update(
      db.updateTable('webhooks').set({ cursor_sequence: r.sequence, cursor_part: r.part, missed_at: r.missed_at }),
      'webhooks.id',
      r.id,
    ),
)

const placeOf = (row: Pick<Webhook, 'cursor_sequence' | 'cursor_part'>): Cursor => ({
  sequence: row.cursor_sequence,
  part: row.cursor_part,
})

/** One whose types can't be read stays where it is in the log, and goes on from there when they are mended. */
const isKnown = ({ types }: Pick<Webhook, 'types'>) => isReadable(types, TEXTS)

/** The kinds that webhooks want, and whether the log has something that they were not asked about yet. */
export function* lookAhead(): Read<{ kinds: ReadonlySet<EventKind>; isBehind: boolean } | null> {
  const webhooks = (yield* all(active({}))).filter(isKnown)
  if (webhooks.length === 0) return null
  const place = placeOf(webhooks[0]!)
  // Two: the first may be the entry where it is.
  const { cursor, kept } = yield* eventsAfter(place, 2)
  const isAnyAhead = webhooks.at(-1)!.cursor_sequence > kept.newest
  return { kinds: kindsOf(webhooks), isBehind: isAnyAhead || isAfter(cursor, place) }
}

interface FanOut {
  readonly sees: Sees
  /** Names this installation in events. */
  readonly source: string
}

/** One page of the log, for all webhooks that are there. Returns whether there is more to take in. */
export function* fanOut({ sees, source }: FanOut, now: number): Write<boolean> {
  const locked = (yield* all(lockActive({}))).filter(isKnown)
  if (locked.length === 0) return false
  const pending = Map.groupBy(yield* pendingBySubject(locked.map(({ id }) => id)), row => row.webhook_id)
  const roomOf = ({ id }: Webhook) =>
    limits.deliveriesPendingMax - (pending.get(id) ?? []).reduce((sum, { count }) => sum + count, 0)
  const open = locked.filter(webhook => roomOf(webhook) > 0)
  if (open.length === 0) return false
  const page = yield* eventsAfter(placeOf(open[0]!), limits.eventPageMax)
  const { oldest, newest } = page.kept
  const made: ReturnType<typeof deliveryOf>[] = []
  const moves = []
  let isLast = page.isLast
  for (const webhook of open) {
    const place = placeOf(webhook)
    // After a fail-over the log may lack its end: then the webhook goes on with what comes next.
    if (place.sequence > newest) {
      const { sequence, part } = endOf(newest)
      moves.push({ id: webhook.id, sequence, part, missed_at: now })
      continue
    }
    if (!isAfter(page.cursor, place)) continue
    if (made.length >= limits.deliveriesPerFanOut) {
      isLast = false
      break
    }
    const isTold = wishOf(webhook, sees)
    const wanted = page.events.filter(event => isAfter(event, place) && isTold(event))
    const room = roomOf(webhook)
    const busy = new Set(pending.get(webhook.id)?.map(({ subject }) => subject))
    for (const event of wanted.slice(0, room)) {
      const delivery = deliveryOf(webhook, event, source, now)
      made.push({ ...delivery, due_at: busy.has(delivery.subject) ? null : now })
      busy.add(delivery.subject)
    }
    const { sequence, part } = wanted.length > room ? wanted[room - 1]! : page.cursor
    const isGone = place.sequence > 0 && oldest > place.sequence + 1
    moves.push({ id: webhook.id, sequence, part, missed_at: isGone ? now : webhook.missed_at })
  }
  if (moves.length === 0) return false
  yield* runAll([...(made.length > 0 ? [addDeliveries({ rows: made })] : []), moveCursors({ rows: moves })])
  return !isLast
}

function deliveryOf(webhook: Webhook, event: HoldfastEvent, source: string, now: number) {
  const { sequence, part, kind, became, object } = event
  return {
    webhook_id: webhook.id,
    project_id: webhook.project_id ?? '',
    // Without dots: signatures have them between their parts.
    message: `msg_${webhook.uuid}_${sequence}_${part}`,
    type: `${kind}.${became}`,
    subject: `${kind}/${object}`,
    body: jsonText<object>(cloudEventOf(event, source)),
    due_at: now as number | null,
    created_at: now,
  }
}
