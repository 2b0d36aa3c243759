// Follows the status: everything first, then each change as it happens.
import { plainClock } from '../clock/plain.ts'
import { connectionTo } from './connection.ts'
import { type HoldfastError, isAway } from './errors.ts'
import type { StatusChange, StatusFollowed } from './status.ts'
import { sleep } from './timers.ts'
import type { Api } from './wire.ts'

const PAUSE_MS = 500
const PAUSE_MAX_MS = 10_000
/** The server says something every 2 s. */
const SILENCE_MAX_MS = 8_000

/**
 * Without an end. When the connection breaks it comes back, with growing pauses, and goes on where it was: with what
 * changed meanwhile, or with everything again (`since` is null). It throws when the server refuses; also when it can't be
 * reached in the first place, unless `lost` hears of it.
 */
export const followStatusAt = (api: Api) =>
  async function* (wanted: StatusFollowed = {}): AsyncGenerator<StatusChange, void, void> {
    const { spans, signal, heard, lost } = wanted
    let { since } = wanted
    let pauseMs = PAUSE_MS
    for (let isFirst = true; ; isFirst = false) {
      if (signal?.aborted) return
      let failure: HoldfastError | null = null
      try {
        const query = { since, spans: spans && `${spans.from}/${spans.to}` }
        const connection = { path: '/status', query, silenceMaxMs: SILENCE_MAX_MS, signal, heard }
        for await (const told of connectionTo(api, connection)) {
          pauseMs = PAUSE_MS
          isFirst = false
          if (told.data !== null && told.type !== 'error') yield JSON.parse(told.data) as StatusChange
          // Once it was taken: who stops in between is told it again.
          if (told.id !== '') since = told.id
        }
      } catch (error) {
        if (signal?.aborted) return
        if (!isAway(error) || (isFirst && !lost)) throw error
        failure = error
      }
      const ms = jittered(pauseMs)
      lost?.(failure, ms)
      await sleep(ms, signal).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)
    }
  }

/** Between half of it and all of it: a thousand that lost their server don't come back in one moment. */
const jittered = (ms: number) => ms * (0.5 + Number.parseInt(plainClock.newSecret(2), 16) / 131_072)
