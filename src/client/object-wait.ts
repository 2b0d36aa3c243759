// Waits until an object is what is wanted: looks when its events say that something has changed, and now and then
// without one.
import type { Events } from './events.ts'
import { sleep } from './timers.ts'
import { type Look, waitFor } from './waiting.ts'

export interface ObjectWait {
  /** Throws WaitedTooLong after so long; without it, waits as long as it takes. */
  timeoutMs?: number | undefined
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined
}

/** While events are heard, a look without one is only for what they may have missed. */
const LISTENING_MS = 15_000
const UUID = /\/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** `object` is its kind with its id, such as `node/62315d73-…`. Events don't know it by a name, so then it is only looked at. */
export async function waitForObject<T>(
  events: Events,
  object: string,
  look: (signal: AbortSignal) => Promise<Look<T>>,
  { timeoutMs, signal }: ObjectWait,
): Promise<T> {
  const over = new AbortController()
  let ear: Ear | null = null
  const rest = (ms: number, each: AbortSignal | undefined, leftMs: number) => {
    ear ??= new Ear(events, object, over.signal)
    return ear.rest(ms, each, leftMs)
  }
  try {
    return await waitFor(look, { timeoutMs: timeoutMs ?? null, rest, ...(signal && { signal }) })
  } finally {
    over.abort()
  }
}

/** Listens to the events of an object. Where there are none to hear, it is deaf, and rests are as long as they are. */
class Ear {
  #isListening = false
  #hasHeard = false
  #wake = () => {}

  constructor(events: Events, object: string, signal: AbortSignal) {
    if (UUID.test(object)) void this.#listen(events, object, signal).catch(() => (this.#isListening = false))
  }

  async #listen(events: Events, object: string, signal: AbortSignal): Promise<void> {
    // From here on nothing is missed. What was before is seen by one more look.
    const after = await events.cursor()
    this.#hear()
    this.#isListening = true
    for await (const _ of events.follow({ objects: [object], after, signal })) this.#hear()
  }

  #hear(): void {
    this.#hasHeard = true
    this.#wake()
  }

  async rest(ms: number, signal: AbortSignal | undefined, leftMs: number): Promise<void> {
    const awake = new AbortController()
    this.#wake = () => awake.abort()
    if (this.#hasHeard) awake.abort()
    const either = signal ? AbortSignal.any([awake.signal, signal]) : awake.signal
    await sleep(this.#isListening ? Math.min(LISTENING_MS, leftMs) : ms, either).catch(() => {})
    signal?.throwIfAborted()
    this.#hasHeard = false
  }
}
