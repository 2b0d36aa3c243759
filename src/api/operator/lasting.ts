// A stream of server-sent events. It goes on only when its reader has taken what there was, so a slow reader costs
// nothing but a socket, and is dropped after a while.
import { Readable } from 'node:stream'
import type { Caller } from '../../identity/caller.ts'
import { limits } from '../../shared/limits.ts'
import type { OperatorRequest } from './request.ts'

export const STREAM = 'text/event-stream'
export const STREAM_HEADERS = {
  'content-type': STREAM,
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** Who has a place among the streams. */
export const holderOf = ({ caller: { user, project } }: OperatorRequest): string => `${user} of ${project}`

/** Checks the token again: who calls now, or why the stream must end. */
export async function callerNow({ context: { identity }, raw: { headers, ip } }: OperatorRequest) {
  try {
    const caller: Caller | null = await identity.authenticate({ headers, ip })
    return caller ?? 'the token is no longer valid; log in again'
  } catch {
    return 'the token can not be checked now; come back'
  }
}

interface LastingOptions {
  beatMs: number
  /** A reader that took nothing for so many beats is dropped. */
  beatsWaitedMax: number
  failed: (error: unknown) => void
}

export const RETRY = `retry: ${limits.streamRetryMs}\n`
const TOO_SLOW = 'event: error\ndata: {"error":"this reader is too slow; come back with the id of the last event"}\n\n'
export const comment = (words: string, more = ''): string => `: ${words}\n${more}\n`

export abstract class LastingStream extends Readable {
  readonly #options: LastingOptions
  #frames: AsyncGenerator<string | Buffer, void, void> | null = null
  readonly #beat: NodeJS.Timeout
  #isBeatDue = false
  /** Bytes that were written, and those that the reader had taken at the last beat. */
  #written = 0
  #takenBefore = 0
  #beatsWaited = 0
  #isReading = false
  #farewell: string | null = null
  #waiting: AbortController | null = null

  constructor(options: LastingOptions) {
    super()
    this.#options = options
    this.#beat = setInterval(() => this.#onBeat(), options.beatMs).unref()
  }

  /** What is written, piece by piece. */
  protected abstract frames(): AsyncGenerator<string | Buffer, void, void>

  /** The last words, when it has to end. */
  protected get farewell(): string | null {
    return this.#farewell
  }

  /** Whether it is time to say something; then it isn't any more. */
  protected takeBeat(): boolean {
    const isDue = this.#isBeatDue
    this.#isBeatDue = false
    return isDue
  }

  /** Waits, unless something else is to be done; the signal says when. */
  protected async rest(until: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#isBeatDue || this.#farewell !== null) return
    this.#waiting = new AbortController()
    await until(this.#waiting.signal)
    this.#waiting = null
  }

  /** Ends it with a comment. The client comes back with its cursor. */
  end(words: string): void {
    this.#farewell ??= words
    this.#waiting?.abort()
  }

  override _read(): void {
    if (!this.#isReading) void this.#readOn()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#beat)
    this.end('')
    done(error)
  }

  async #readOn(): Promise<void> {
    this.#isReading = true
    const { value } = await this.#next()
    this.#isReading = false
    // It may have been dropped meanwhile.
    if (this.destroyed || this.#beatsWaited >= this.#options.beatsWaitedMax) return
    if (value === undefined) this.push(null)
    else this.#write(value)
  }

  #write(text: string | Buffer): void {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text
    this.#written += bytes.length
    this.push(bytes)
  }

  #onBeat(): void {
    const { beatsWaitedMax } = this.#options
    const taken = this.#written - this.readableLength
    const isStuck = this.readableFlowing === false && taken === this.#takenBefore
    this.#takenBefore = taken
    if (!isStuck) {
      this.#beatsWaited = 0
      this.#isBeatDue = true
      this.#waiting?.abort()
    } else if (++this.#beatsWaited === beatsWaitedMax) {
      // The last words wait for the reader until the next beat.
      this.#write(TOO_SLOW)
      this.push(null)
      this.end('')
    } else if (this.#beatsWaited > beatsWaitedMax) this.destroy()
  }

  async #next(): Promise<IteratorResult<string | Buffer, void>> {
    try {
      this.#frames ??= this.frames()
      return await this.#frames.next()
    } catch (error) {
      this.#options.failed(error)
      return { value: comment('the log can not be read now; come back', RETRY) }
    }
  }
}
