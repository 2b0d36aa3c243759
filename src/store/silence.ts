// Finds connections that have fallen silent: nothing tells that the other side is gone, and whoever waits would wait for ever.
// A connection in use always waits for PostgreSQL. When it hears nothing, another one asks whether its statement is still at work.
import type { Session } from './session.ts'

/** The sessions whose answer can't be on its way any more. */
type Ask = (suspects: readonly Session[]) => Promise<ReadonlySet<Session>>

interface SilenceOptions {
  /** After so long without a word, one asks. */
  silenceMs: number
  /** Longer than any statement may take: after this nobody needs to be asked. */
  limitMs: number
  ask: Ask
  /** Is told once for all that were found. */
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
      // Its answer may have come meanwhile, and others may have it now.
      if (this.#uses.get(session) !== use || session.heard !== use.heard) continue
      if (silent.has(session)) {
        session.destroy()
        found = true
      } else use.patienceMs *= 2
    }
    if (found) this.#options.found()
  }
}
