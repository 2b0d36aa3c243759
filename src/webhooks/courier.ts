// Takes events into the outbox and delivers what is due. Any number of processes do this at once: a delivery is taken for
// a term, and is due again when its process didn't live to say what came of it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { recorded } from '../audit/record.ts'
import type { Witness } from '../audit/witness.ts'
import type { Clock } from '../clock/clock.ts'
import type { EventKind } from '../events/kinds.ts'
import type { Publisher } from '../events/publisher.ts'
import { Duty } from '../shared/duty.ts'
import { limits } from '../shared/limits.ts'
import type { WebhookId } from '../store/schema/ids.ts'
import type { Store } from '../store/store.ts'
import type { Carrier } from './carrier.ts'
import { fanOut, lookAhead } from './fan-out.ts'
import type { Sees } from './filter.ts'
import { type Full, prune, takeDue, type Taken, untilDue } from './outbox.ts'
import { settle } from './settle.ts'
import { verdictOn } from './verdict.ts'

interface CourierOptions {
  store: Store
  clock: Clock
  log: Logger
  publisher: Pick<Publisher, 'newest' | 'changed'>
  carrier: Carrier
  sees: Sees
  witness: Witness
  metrics: { delivered(outcome: 'delivered' | 'failed' | 'interrupted', ms: number): void }
}

export class Courier {
  readonly duty: Duty
  readonly #options: CourierOptions
  readonly #underWay = new Set<Taken>()
  readonly #sending = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #following: Promise<void> = Promise.resolve()
  #kinds: ReadonlySet<EventKind> = new Set()
  /** Webhooks with deliveries that are done. */
  readonly #toPrune = new Set<WebhookId>()
  #prunedAt = 0

  constructor(options: CourierOptions) {
    this.#options = options
    const { log } = options
    this.duty = new Duty({ name: 'webhooks', pollMs: limits.webhookPollMs, run: () => this.#run(), log })
  }

  start(): void {
    this.#following = this.#follow()
  }

  /** What is under way is broken off and put back, so that another process can take it at once. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.duty.stop()
    await Promise.all([this.#following, ...this.#sending])
  }

  /** Wakes the duty as soon as there are events that someone wants. */
  async #follow(): Promise<void> {
    const { publisher, log } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const rest = AbortSignal.any([signal, AbortSignal.timeout(limits.webhookPollMs)])
      try {
        if (this.#kinds.size === 0) await sleep(limits.webhookPollMs, null, { signal, ref: false }).catch(() => {})
        else {
          const place = await publisher.newest()
          await this.duty.wake()
          await publisher.changed(place, this.#kinds, rest)
        }
      } catch (error) {
        log.warn({ err: error }, 'webhooks could not follow the log; they look again')
        await sleep(limits.webhookPollMs, null, { signal, ref: false }).catch(() => {})
      }
    }
  }

  async #run(): Promise<number | null> {
    const { store, clock, carrier, sees } = this.#options
    const ahead = await store.read(lookAhead)
    this.#kinds = ahead?.kinds ?? new Set()
    if (ahead?.isBehind) {
      while (await store.write(() => fanOut({ sees, source: carrier.source }, clock.now())));
    }
    await this.#fill()
    await this.#prune()
    return this.#untilDue()
  }

  #untilDue(): Promise<number | null> {
    const { store, clock } = this.#options
    return store.read(() => untilDue(this.#places().full, clock.now()))
  }

  /** Sends what is due, as far as there are places. */
  async #fill(): Promise<void> {
    const { store, clock } = this.#options
    const { deliveriesAtOnce } = limits
    while (!this.#stopping.signal.aborted && this.#underWay.size < deliveriesAtOnce) {
      const waitMs = await this.#untilDue()
      if (waitMs === null || waitMs > 0) return
      const limit = deliveriesAtOnce - this.#underWay.size
      const { taken, isMore } = await store.write(() => takeDue({ limit, ...this.#places() }, clock.now()))
      for (const delivery of taken) this.#send(delivery)
      if (!isMore) return
    }
  }

  /** Who has as much under way as it may, and a count that goes on from there. */
  #places(): { full: Full; hasRoom: (row: { webhook_id: WebhookId; project_id: string }) => boolean } {
    const webhooks = new Map<WebhookId, number>()
    const projects = new Map<string, number>()
    const count = (webhook: WebhookId, project: string) => {
      webhooks.set(webhook, (webhooks.get(webhook) ?? 0) + 1)
      projects.set(project, (projects.get(project) ?? 0) + 1)
    }
    const isFull = (webhook: WebhookId) => (webhooks.get(webhook) ?? 0) >= limits.deliveriesAtOncePerWebhook
    const isBusy = (project: string) => (projects.get(project) ?? 0) >= limits.deliveriesAtOncePerProject
    for (const { webhook, project } of this.#underWay) count(webhook, project)
    return {
      full: { webhooks: [...webhooks.keys()].filter(isFull), projects: [...projects.keys()].filter(isBusy) },
      hasRoom: ({ webhook_id, project_id }) => {
        if (isFull(webhook_id) || isBusy(project_id)) return false
        count(webhook_id, project_id)
        return true
      },
    }
  }

  #send(taken: Taken): void {
    const { log } = this.#options
    this.#underWay.add(taken)
    const sending = this.#deliver(taken)
      .catch((error: unknown) => {
        log.warn({ err: error, webhook: taken.target.uuid }, 'what became of a delivery could not be written down')
      })
      .finally(() => {
        this.#underWay.delete(taken)
        this.#sending.delete(sending)
        void this.duty.wake()
      })
    this.#sending.add(sending)
  }

  async #deliver(taken: Taken): Promise<void> {
    const { store, clock, log, carrier, witness, metrics } = this.#options
    const reply = await carrier.send(taken.target, taken.message, clock.now(), this.#stopping.signal)
    const now = clock.now()
    const verdict = verdictOn(reply, taken, now)
    const outcome = verdict.kind === 'delivered' ? 'delivered' : verdict.kind === 'put back' ? 'interrupted' : 'failed'
    metrics.delivered(outcome, reply.ms)
    const stopped = await store.write(() =>
      recorded(settle(taken, reply, verdict, now), webhook =>
        webhook
          ? witness?.({ action: `webhook:${webhook.state}`, outcome: 'done', project: webhook.project_id })
          : undefined,
      ),
    )
    this.#toPrune.add(taken.webhook)
    if (stopped) log.warn({ webhook: stopped.uuid, reason: stopped.reason }, 'a webhook was stopped')
  }

  async #prune(): Promise<void> {
    const { store, clock } = this.#options
    const now = clock.now()
    if (this.#toPrune.size === 0 || now - this.#prunedAt < limits.deliveryPruneMs) return
    const webhooks = [...this.#toPrune]
    this.#toPrune.clear()
    this.#prunedAt = now
    await store.write(() => prune(webhooks))
  }
}
