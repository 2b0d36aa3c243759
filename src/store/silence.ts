// Finds dead connections: if the other side vanishes without a sign, a query would wait for ever. A connection in use
// always waits for PostgreSQL. When it receives nothing, another one asks whether its statement still runs.
import type { Session } from './session.ts'

/** Returns the sessions that can't get an answer any more. */
type Ask = (suspects: readonly Session[]) => Promise<ReadonlySet<Session>>

interface SilenceOptions {
  /** After this long without a byte, it asks. */
  silenceMs: number
  /** Longer than any statement may take: after this the session is closed without asking. */
  limitMs: number
  ask: Ask
  /** Called once for all that were found together. */
  found: () => void
}

interface Use {
  heard: number
  since: number
  patienceMs: number
}

export class SilenceWatch {
  readonly #options: SilenceOptions
  readonly #uses = new Map<Session, Use>()
  readonly #timer: NodeJS.Timeout
  #asking = false

  constructor(options: SilenceOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), options.silenceMs / 2).unref()
  }

  begin(session: Session): void {
    this.#uses.set(session, { heard: session.heard, since: performance.now(), patienceMs: this.#options.silenceMs })
  }

  end(session: Session): void {
    this.#uses.delete(session)
  }

  isInUse(session: Session): boolean {
    return this.#uses.has(session)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    const suspects: [Session, Use][] = []
    for (const [session, use] of this.#uses) {
      if (session.heard !== use.heard) {
        Object.assign(use, { heard: session.heard, since: now, patienceMs: this.#options.silenceMs })
      } else if (now - use.since > this.#options.limitMs) session.destroy()
      else if (now - use.since >= use.patienceMs) suspects.push([session, use])
    }
    if (suspects.length === 0 || this.#asking) return
    this.#asking = true
    void this.#judge(suspects).finally(() => (this.#asking = false))
  }

  async #judge(suspects: readonly [Session, Use][]): Promise<void> {
    const silent = await this.#options.ask(suspects.map(([session]) => session))
    let found = false
    for (const [session, use] of suspects) {
      // The answer may have come meanwhile, and someone else may use the session now.
      if (this.#uses.get(session) !== use || session.heard !== use.heard) continue
      if (silent.has(session)) {
        session.destroy()
        found = true
      } else use.patienceMs *= 2
    }
    if (found) this.#options.found()
  }
}
