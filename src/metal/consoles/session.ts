// The serial console of one machine: one line to its BMC, shared by all who watch it.
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../shared/limits.ts'
import { HardwareFailure, type SerialLine } from '../drivers/port.ts'

export interface Viewer {
  /** What the machine printed. */
  show(bytes: Buffer): void
  /** What we have to say about the line. */
  tell(words: string): void
}

interface SessionOptions {
  open: (takesOver: boolean, signal: AbortSignal) => Promise<SerialLine>
  /** Called with errors of our own. */
  failed: (error: unknown) => void
  /** Called when nobody watches any more, and the line is closed. */
  ended: () => void
}

export class ConsoleSession {
  readonly #options: SessionOptions
  readonly #viewers = new Set<Viewer>()
  readonly #stopping = new AbortController()
  /** Resolves when the line is closed for good. */
  readonly over: Promise<void>
  #scrollback = Buffer.alloc(0)
  #line: SerialLine | null = null
  #state = 'opening the console'
  #lingering: NodeJS.Timeout | undefined

  constructor(options: SessionOptions) {
    this.#options = options
    this.over = this.#keepOpen()
  }

  get viewers(): number {
    return this.#viewers.size
  }

  get isOver(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Shows what there was, then what comes. Returns what takes the viewer away. */
  enter(viewer: Viewer): () => void {
    clearTimeout(this.#lingering)
    this.#viewers.add(viewer)
    if (this.#scrollback.length > 0) viewer.show(this.#scrollback)
    viewer.tell(this.#state)
    return () => {
      this.#viewers.delete(viewer)
      if (this.#viewers.size === 0) this.#lingering = setTimeout(() => void this.stop(), limits.consoleLingerMs).unref()
    }
  }

  /** What is typed while there is no line is lost, as on a cable that isn't plugged in. */
  type(bytes: Buffer): void {
    this.#line?.write(bytes)
  }

  /** The machine changed hands: who comes now must not see what others left on the screen. */
  forget(): void {
    this.#scrollback = Buffer.alloc(0)
  }

  async stop(): Promise<void> {
    clearTimeout(this.#lingering)
    this.#stopping.abort()
    await this.#line?.close()
    await this.over
  }

  /** Opens the line, and again whenever it is lost, until nobody watches. */
  async #keepOpen(): Promise<void> {
    const { signal } = this.#stopping
    for (let tries = 0; !signal.aborted;) {
      const why = await this.#follow(tries, () => (tries = 0))
      if (signal.aborted) break
      const { consolePausesMs: pauses } = limits
      const ms = pauses[Math.min(tries++, pauses.length - 1)]!
      this.#say(`${why} Trying again in ${ms / 1_000} seconds.`)
      await sleep(ms, null, { signal }).catch(() => {})
    }
    this.#options.ended()
  }

  /** One line, from its opening to its end. Returns why it ended. */
  async #follow(tries: number, opened: () => void): Promise<string> {
    const { open, failed } = this.#options
    try {
      this.#line = await open(tries >= limits.consoleTriesBeforeTakeOver, this.#stopping.signal)
      if (this.isOver) await this.#line.close()
      opened()
      this.#say('the console is open')
      for await (const bytes of this.#line.output) this.#show(bytes)
      return 'The console ended.'
    } catch (error) {
      if (error instanceof HardwareFailure) return error.message
      if (!this.isOver) failed(error)
      return 'The console could not be opened.'
    } finally {
      const line = this.#line
      this.#line = null
      if (!this.isOver) await line?.close()
    }
  }

  #say(words: string): void {
    this.#state = words
    for (const viewer of this.#viewers) viewer.tell(words)
  }

  #show(bytes: Buffer): void {
    this.#scrollback = Buffer.concat([this.#scrollback, bytes]).subarray(-limits.consoleScrollbackBytes)
    for (const viewer of this.#viewers) viewer.show(bytes)
  }
}
