// Carries messages to receivers that are not there: each try takes its time, and some fail.
import { BlockList } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Carrier } from '../src/webhooks/carrier.ts'
import { INTERRUPTED, type Reply } from '../src/webhooks/verdict.ts'
import type { Stream } from './chance.ts'

export class SimulatedCarrier extends Carrier {
  readonly #chance: Stream

  constructor(chance: Stream) {
    super({ rules: { allowed: new BlockList(), mailDomains: null }, source: 'simulator', mail: null })
    this.#chance = chance
  }

  override async send(...[, , , stopping]: Parameters<Carrier['send']>): Promise<Reply> {
    const ms = this.#chance.int(300)
    await sleep(ms, null, { signal: stopping }).catch(() => {})
    const answer = { ms, text: '', retryAfterMs: null }
    if (stopping.aborted) return { ...answer, status: null, error: INTERRUPTED }
    if (this.#chance.happens(0.1)) return { ...answer, status: 500, error: 'it answered 500' }
    return { ...answer, status: 200, error: null }
  }
}
