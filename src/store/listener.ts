// The one connection of a process that listens for notifications, for all listeners. It reconnects by itself, and
// checks that the server still answers.
import { Runner } from '../shared/runner.ts'
import type { Pools } from './pools.ts'
import type { Session } from './session.ts'

export interface Ear {
  channel: string
  heard: (payload: string | undefined) => void
  /** Notifications from before this may be missed. */
  connected?: () => void
  /** The connection broke after it had been up. */
  lost?: () => void
  failed?: (error: unknown) => void
}

/** Its name in pg_stat_activity. */
const NAME = 'holdfast feed'

export class Listener {
  readonly #pools: Pools
  readonly #ears = new Set<Ear>()
  /** Ears whose channel the present session listens to. */
  readonly #hearing = new Set<Ear>()
  readonly #tuning = new Runner(
    () => this.#tune(),
    error => this.#failed(error),
  )
  #session: Session | null = null
  #timer: NodeJS.Timeout | null = null
  /** A probe was sent and not answered yet. */
  #isAsked = false

  constructor(pools: Pools) {
    this.#pools = pools
  }

  /** Resolves when it listens, or the first try has failed; then it keeps trying. */
  async listen(ear: Ear): Promise<void> {
    this.#ears.add(ear)
    this.#timer ??= setInterval(() => this.#look(), this.#pools.patience.silenceMs).unref()
    await this.#tuning.run()
  }

  /** Closes the connection with the last ear. */
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

  /** Connects if needed, and listens for ears that aren't served yet. */
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
    // All ears may be gone by now.
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
