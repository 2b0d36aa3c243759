// A connection that only listens. It reconnects by itself, and finds out when it has gone deaf.
import type { PostgresStore } from './postgres.ts'
import type { Session } from './session.ts'

interface ListenerOptions {
  store: PostgresStore
  channel: string
  /** How PostgreSQL lists it. */
  name: string
  heard: (payload: string | undefined) => void
  /** What was said before this was not heard. */
  connected?: () => void
  /** It had been connected. */
  lost?: () => void
  failed?: (error: unknown) => void
}

export class Listener {
  readonly #options: ListenerOptions
  #session: Session | null = null
  #timer: NodeJS.Timeout | null = null
  #connecting = false
  /** It was asked for a sign of life and has not given it yet. */
  #isAsked = false

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    await this.#connect()
    const { silenceMs } = this.#options.store.pools.patience
    this.#timer = setInterval(() => this.#look(), silenceMs).unref()
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#session?.destroy()
  }

  #look(): void {
    const session = this.#session
    if (!session) void this.#connect()
    else if (this.#isAsked) session.destroy()
    else {
      this.#isAsked = true
      session.query('select 1').then(
        () => (this.#isAsked = false),
        () => session.destroy(),
      )
    }
  }

  async #connect(): Promise<void> {
    if (this.#connecting) return
    this.#connecting = true
    const { store, channel, name, heard, connected, lost, failed } = this.#options
    const session = store.pools.session(name)
    session.on('end', () => {
      if (this.#session !== session) return
      this.#session = null
      lost?.()
    })
    session.on('notification', ({ payload }) => heard(payload))
    try {
      await session.connect()
      await session.query(`listen ${channel}`)
      this.#session = session
      this.#isAsked = false
      connected?.()
    } catch (error) {
      session.destroy()
      failed?.(error)
    } finally {
      this.#connecting = false
    }
  }
}
