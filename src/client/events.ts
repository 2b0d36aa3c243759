// Events: what becomes of each object, heard as it happens.
import { connectionTo } from './connection.ts'
import { ApiError, isAway } from './errors.ts'
import { sleep } from './timers.ts'
import type { Api, Json } from './wire.ts'

/** An event, in the form of CloudEvents 1.0. */
export interface Event {
  specversion: '1.0'
  /** Also the cursor of a reader who has got so far. */
  id: string
  source: string
  /** Such as `holdfast.allocation.active`. */
  type: string
  /** The kind and the id of the object, such as `allocation/62315d73-…`. */
  subject: string
  time: string
  sequence: string
  projectid?: string
  data: Json & { by: { user: string; project: string | null; request: string | null } }
}

export interface EventsWanted {
  /** Only what comes after this id; `0` for all that is kept. From now on if it isn't said. */
  after?: string | undefined
  /** Kinds, such as `allocation`, or types, such as `allocation.active`. All but claims if it isn't said. */
  kinds?: readonly string[] | undefined
  /** Ids, or kinds with ids: `allocation/62315d73-…`. */
  objects?: readonly string[] | undefined
  project?: string | undefined
  /** Ends it. */
  signal?: AbortSignal | undefined
  /** When the cursor is no longer kept, go on with all that is, instead of throwing EventsGone. */
  beginAfresh?: boolean | undefined
}

export interface WaitWanted extends EventsWanted {
  object: string
  /** What it must have become, such as `active` or `error`. */
  became: readonly string[]
  timeoutMs?: number | undefined
}

/** What comes after the cursor is no longer kept: something was missed. Look at what is now, and begin afresh. */
export class EventsGone extends ApiError {
  /** The id of the oldest event that is kept; null if the server doesn't say. */
  readonly oldest: string | null

  constructor({ status, message, body, requestId }: ApiError) {
    super(status, message, { body, requestId })
    const { details } = ((body as Json | null)?.['error'] ?? {}) as { details?: { oldest?: string } }
    this.oldest = details?.oldest ?? null
  }
}

const PAUSE_MS = 500
const PAUSE_MAX_MS = 30_000
/** The server says something every 15 s. */
const SILENCE_MAX_MS = 40_000

export class Events {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** The cursor of now: what is read after it happened later than this call. */
  async cursor(): Promise<string> {
    return (await this.#api.get<{ cursor: string }>('/events')).cursor
  }

  /**
   * All events as they happen, without an end. When the connection breaks it comes back, with growing pauses, and goes
   * on where it was. It throws when the server can't be reached in the first place, and when it refuses.
   */
  async *follow(wanted: EventsWanted = {}): AsyncGenerator<Event, void, void> {
    const { kinds, objects, project, signal } = wanted
    const query = { kind: kinds?.join(), object: objects?.join(), project }
    let { after } = wanted
    let pauseMs = PAUSE_MS
    for (let isFirst = true; ; isFirst = false) {
      if (signal?.aborted) return
      try {
        for await (const told of connectionTo(this.#api, {
          path: '/events',
          query: { ...query, after },
          silenceMaxMs: SILENCE_MAX_MS,
          signal,
        })) {
          pauseMs = PAUSE_MS
          isFirst = false
          after = told.id
          if (told.data !== null && told.type !== 'error') yield JSON.parse(told.data) as Event
        }
      } catch (error) {
        if (signal?.aborted) return
        if (error instanceof ApiError && error.status === 410) {
          if (!wanted.beginAfresh) throw new EventsGone(error)
          after = '0'
        } else if (isFirst || !isAway(error)) throw error
      }
      await sleep(pauseMs, signal).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)
    }
  }

  /** Waits until an object has become one of these; null when the time is over before. */
  async wait({ object, became, timeoutMs, signal, ...wanted }: WaitWanted): Promise<Event | null> {
    const over = new AbortController()
    const abort = () => over.abort()
    const timer = timeoutMs === undefined ? undefined : setTimeout(abort, timeoutMs)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    try {
      for await (const event of this.follow({ ...wanted, objects: [object], signal: over.signal })) {
        if (became.includes(event.type.split('.').at(-1)!)) return event
      }
      signal?.throwIfAborted()
      return null
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      abort()
    }
  }
}
