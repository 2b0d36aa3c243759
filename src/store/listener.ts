// The one connection of a process that listens, for all who want to hear something. It reconnects by itself, and finds out
// when it has gone deaf.
import { Runner } from '../shared/runner.ts'
import type { Pools } from './pools.ts'
import type { Session } from './session.ts'

export interface Ear {
  channel: string
  heard: (payload: string | undefined) => void
  /** What was said before this was not heard. */
  connected?: () => void
  /** It had been connected. */
  lost?: () => void
  failed?: (error: unknown) => void
}

/** How PostgreSQL lists it. */
const NAME = 'holdfast feed'

export class Listener {
  readonly #pools: Pools
  readonly #ears = new Set<Ear>()
  /** Those whose channel the present session listens to. */
  readonly #hearing = new Set<Ear>()
  readonly #tuning = new Runner(
    () => this.#tune(),
    error => this.#failed(error),
  )
  #session: Session | null = null
  #timer: NodeJS.Timeout | null = null
  /** It was asked for a sign of life and has not given it yet. */
  #isAsked = false

  constructor(pools: Pools) {
    this.#pools = pools
  }

  /** Resolves when it hears, or the first try has failed; more will follow. */
  async listen(ear: Ear): Promise<void> {
    this.#ears.add(ear)
    this.#timer ??= setInterval(() => this.#look(), this.#pools.patience.silenceMs).unref()
    await this.#tuning.run()
  }

  /** Without ears there is no connection. */
  forget(ear: Ear): void {
    this.#ears.delete(ear)
    this.#hearing.delete(ear)
    if (this.#ears.size > 0) return
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
    if (this.#session) this.#drop(this.#session)
  }

  #look(): void {
    const session = this.#session
    if (!session) void this.#tuning.run()
    else if (this.#isAsked) this.#drop(session)
    else {
      this.#isAsked = true
      session.query('select 1').then(
        () => (this.#isAsked = false),
        () => this.#drop(session),
      )
    }
  }

  /** Connects if need be, and listens for those who don't hear yet. */
  async #tune(): Promise<void> {
    if (this.#ears.size === 0) return
    const session = this.#session ?? (await this.#connect())
    for (const ear of this.#ears) {
      if (this.#hearing.has(ear)) continue
      await session.query(`listen ${ear.channel}`)
      if (!this.#ears.has(ear)) continue
      this.#hearing.add(ear)
      ear.connected?.()
    }
    // All may have gone meanwhile.
    if (this.#ears.size === 0) this.#drop(session)
  }

  async #connect(): Promise<Session> {
    const session = this.#pools.session(NAME)
    session.on('end', () => this.#drop(session))
    session.on('notification', ({ channel, payload }) => {
      for (const ear of this.#hearing) if (ear.channel === channel) ear.heard(payload)
    })
    await session.connect()
    this.#session = session
    this.#isAsked = false
    return session
  }

  #drop(session: Session): void {
    session.destroy()
    if (this.#session !== session) return
    this.#session = null
    const deaf = [...this.#hearing]
    this.#hearing.clear()
    for (const ear of deaf) ear.lost?.()
  }

  #failed(error: unknown): void {
    if (this.#session) this.#drop(this.#session)
    for (const ear of this.#ears) ear.failed?.(error)
  }
}
