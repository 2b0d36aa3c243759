// A stream of events: what became of each object, as it happens.
import { cloudEventOf, type Cursor, type HoldfastEvent, textOf } from '../../events/event.ts'
import type { EventKind } from '../../events/kinds.ts'
import type { Publisher } from '../../events/publisher.ts'
import { limits } from '../../shared/limits.ts'
import { comment, LastingStream, RETRY } from './lasting.ts'

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

export class EventStream extends LastingStream {
  readonly #options: EventStreamOptions

  constructor(options: EventStreamOptions) {
    super({ beatMs: limits.streamBeatMs, beatsWaitedMax: limits.streamBeatsWaitedMax, failed: options.failed })
    this.#options = options
  }

  protected async *frames(): AsyncGenerator<string, void, void> {
    const { publisher, after, kinds, isWanted, recheck, source, told } = this.#options
    let at = after
    // With its place, so that a client which hears no event at all still comes back to where it was.
    yield `${RETRY}id: ${textOf(at)}\n\n`
    for (;;) {
      const page = await publisher.read(at, kinds)
      at = page.cursor
      const wanted = page.events.filter(isWanted)
      told(wanted.length)
      yield* piecesOf(wanted.map(event => frameOf(event, source)))
      if (this.farewell !== null) return yield comment(this.farewell, RETRY)
      if (this.takeBeat()) {
        const reason = await recheck()
        if (reason !== null) return yield comment(reason)
        // An id without data: the client remembers the place, and is told nothing.
        yield comment('still here', `id: ${textOf(at)}\n`)
      } else if (page.isLast) await this.rest(signal => publisher.changed(at, kinds, signal))
    }
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
