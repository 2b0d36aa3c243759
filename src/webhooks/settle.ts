// Writes down what became of a delivery, and what that means for its webhook.
import type { Write } from '../store/transaction.ts'
import { giveBack, makeNextDue, restUntil, type Taken, writeAnswer } from './outbox.ts'
import type { Reply, Verdict } from './verdict.ts'
import { halt, lockWebhook, noteFailing, type Webhook } from './webhooks.ts'

/**
 * Returns the webhook if it was stopped. The lock keeps out those who put in more: they must see whether something about
 * this subject is pending, or else the next one would never be due.
 */
export function* settle(taken: Taken, reply: Reply, verdict: Verdict, now: number): Write<Webhook | null> {
  const webhook = yield* lockWebhook(taken.webhook)
  if (!webhook) return null
  const isActive = webhook.state === 'active'
  if (verdict.kind !== 'put back') yield* noteFailing(webhook, verdict.kind !== 'delivered', now)
  switch (verdict.kind) {
    case 'put back':
      if (isActive) yield* giveBack(taken, now)
      return null
    case 'delivered':
      if ((yield* writeAnswer(taken, reply, { status: 'delivered', due_at: null }, now)) && isActive) {
        yield* makeNextDue(taken, now)
      }
      return null
    case 'retry': {
      const isOurs = yield* writeAnswer(taken, reply, { status: 'pending', due_at: isActive ? verdict.at : null }, now)
      if (isOurs && verdict.isForAll) yield* restUntil(taken.webhook, verdict.at)
      return null
    }
    default: {
      const isOurs = yield* writeAnswer(taken, reply, { status: 'pending', due_at: null }, now)
      if (!isOurs || !isActive) return null
      const state = verdict.kind === 'pause' ? 'paused' : 'disabled'
      const { name } = webhook
      const data = { name, state, reason: verdict.reason }
      return yield* halt(webhook, state, verdict.reason, now, { became: 'disabled', data })
    }
  }
}
