// A stream of server-sent events. It reads on only when its reader has taken what there was, so a slow reader costs
// nothing but a socket, and is dropped after a while.
import { Readable } from 'node:stream'
import { cloudEventOf, type Cursor, type HoldfastEvent, textOf } from '../../events/event.ts'
import type { EventKind } from '../../events/kinds.ts'
import type { Publisher } from '../../events/publisher.ts'
import { limits } from '../../shared/limits.ts'

interface EventStreamOptions {
  publisher: Publisher
  source: string
  after: Cursor
  kinds: ReadonlySet<EventKind>
  isWanted: (event: HoldfastEvent) => boolean
  /** Asked now and then: why the stream must end, or null when it may go on. */
  recheck: () => Promise<string | null>
  told: (count: number) => void
  failed: (error: unknown) => void
}

const RETRY = `retry: ${limits.streamRetryMs}\n`
const TOO_SLOW = 'event: error\ndata: {"error":"this reader is too slow; come back with the id of the last event"}\n\n'
const comment = (words: string, more = '') => `: ${words}\n${more}\n`

export class EventStream extends Readable {
  readonly #options: EventStreamOptions
  readonly #frames: AsyncGenerator<string, void, void>
  readonly #beat: NodeJS.Timeout
  #isBeatDue = false
  /** Bytes that were written, and those that the reader had taken at the last beat. */
  #written = 0
  #takenBefore = 0
  #beatsWaited = 0
  #isReading = false
  #farewell: string | null = null
  #waiting: AbortController | null = null

  constructor(options: EventStreamOptions) {
    super()
    this.#options = options
    this.#frames = this.#follow(options.after)
    this.#beat = setInterval(() => this.#onBeat(), limits.streamBeatMs).unref()
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
    if (this.destroyed || this.#beatsWaited >= limits.streamBeatsWaitedMax) return
    if (typeof value !== 'string') this.push(null)
    else this.#write(value)
  }

  #write(text: string): void {
    const bytes = Buffer.from(text)
    this.#written += bytes.length
    this.push(bytes)
  }

  #onBeat(): void {
    const taken = this.#written - this.readableLength
    const isStuck = this.readableFlowing === false && taken === this.#takenBefore
    this.#takenBefore = taken
    if (!isStuck) {
      this.#beatsWaited = 0
      this.#isBeatDue = true
      this.#waiting?.abort()
    } else if (++this.#beatsWaited === limits.streamBeatsWaitedMax) {
      // The last words wait for the reader until the next beat.
      this.#write(TOO_SLOW)
      this.push(null)
      this.end('')
    } else if (this.#beatsWaited > limits.streamBeatsWaitedMax) this.destroy()
  }

  async #next(): Promise<IteratorResult<string, void>> {
    try {
      return await this.#frames.next()
    } catch (error) {
      this.#options.failed(error)
      return { value: comment('the log can not be read now; come back', RETRY) }
    }
  }

  async *#follow(after: Cursor): AsyncGenerator<string, void, void> {
    const { publisher, kinds, isWanted, recheck, source, told } = this.#options
    let at = after
    // With its place, so that a client which hears no event at all still comes back to where it was.
    yield `${RETRY}id: ${textOf(at)}\n\n`
    for (;;) {
      const page = await publisher.read(at, kinds)
      at = page.cursor
      const wanted = page.events.filter(isWanted)
      told(wanted.length)
      yield* piecesOf(wanted.map(event => frameOf(event, source)))
      if (this.#farewell !== null) return yield comment(this.#farewell, RETRY)
      if (this.#isBeatDue) {
        this.#isBeatDue = false
        const reason = await recheck()
        if (reason !== null) return yield comment(reason)
        // An id without data: the client remembers the place, and is told nothing.
        yield comment('still here', `id: ${textOf(at)}\n`)
      } else if (page.isLast) await this.#change(at)
    }
  }

  /** Until there may be something after this place, or something else is to be done. */
  async #change(after: Cursor): Promise<void> {
    if (this.#isBeatDue || this.#farewell !== null) return
    this.#waiting = new AbortController()
    await this.#options.publisher.changed(after, this.#options.kinds, this.#waiting.signal)
    this.#waiting = null
  }
}

/** Texts put together to pieces of a fair size: a reader that takes one now and then isn't stuck. */
function* piecesOf(texts: readonly string[]): Generator<string, void, void> {
  let piece = ''
  for (const text of texts) {
    piece += text
    if (piece.length < limits.streamPieceChars) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** Events are written once for all streams. */
const frames = new WeakMap<HoldfastEvent, string>()

function frameOf(event: HoldfastEvent, source: string): string {
  return frames.getOrInsertComputed(event, () => {
    const { kind, became } = event
    const data = JSON.stringify(cloudEventOf(event, source))
    return `id: ${textOf(event)}\nevent: holdfast.${kind}.${became}\ndata: ${data}\n\n`
  })
}
