// The gauges of webhooks.
import { byState, type Gauges, type Sample, secondsSince } from '../shared/gauges.ts'
import { query } from '../store/statement.ts'
import { type Read, together } from '../store/transaction.ts'

export const webhookGauges = {
  holdfast_webhooks: { help: 'Webhooks by state.', label: 'state' },
  holdfast_webhook_deliveries_pending: { help: 'Deliveries that wait to be sent, or sent again.' },
  holdfast_webhook_delivery_oldest_seconds: { help: 'For how long the oldest of them has waited.' },
} satisfies Gauges

const webhooksByState = query((db, _: object) =>
  db
    .selectFrom('webhooks')
    .select('state')
    .select(e => e.fn.countAll<number>().as('count'))
    .groupBy('state'),
)
const pending = query((db, _: object) =>
  db
    .selectFrom('deliveries')
    .select(e => [e.fn.countAll<number>().as('count'), e.fn.min<number | null>('created_at').as('since')])
    .where('status', '=', 'pending'),
)

export function* countWebhooks(now: number): Read<Sample<keyof typeof webhookGauges>[]> {
  const [webhooks, [waiting]] = yield* together(webhooksByState({}), pending({}))
  return [
    ...byState('holdfast_webhooks', ['active', 'paused', 'disabled'], webhooks),
    { name: 'holdfast_webhook_deliveries_pending', value: waiting!.count },
    { name: 'holdfast_webhook_delivery_oldest_seconds', value: secondsSince(waiting!.since, now) },
  ]
}
