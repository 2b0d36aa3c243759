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
import { deal, nextDue, NO_TURNS } from './dealing.ts'
import { fanOut, lookAhead } from './fan-out.ts'
import type { Sees } from './filter.ts'
import { prune, type Taken } from './outbox.ts'
import { settle } from './settle.ts'
import { contenders, take } from './taking.ts'
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
  /** Of this process. Each deals by itself: when all of them are fair, so is the whole. */
  #turns = NO_TURNS
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
    const nextMs = await this.#fill()
    await this.#prune()
    return nextMs
  }

  /** Sends what is due, as far as there are places. Returns in how many milliseconds more is due. */
  async #fill(): Promise<number | null> {
    const { store, clock } = this.#options
    while (!this.#stopping.signal.aborted) {
      const waiting = await store.read(() => contenders(clock.now()))
      const underWay = [...this.#underWay]
      const { dealt, turns } = deal(waiting, underWay, this.#turns)
      if (dealt.length === 0) {
        const next = nextDue(waiting, underWay)
        return next === null ? null : next - clock.now()
      }
      const taken = await store.write(() => take(dealt, clock.now()))
      this.#turns = turns
      for (const delivery of taken) this.#send(delivery)
      if (taken.length === 0) return null
    }
    return null
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
