// Follows the status of the server: everything first, then what changes.
import { isAway } from '../../../src/client/errors.ts'
import type { Holdfast } from '../../../src/client/index.ts'
import { sleep } from '../../../src/client/timers.ts'
import type { StatusChange } from '../../../src/client/status.ts'

export interface FollowWanted {
  since: string | null
  spans: { from: string; to: string } | null
  signal: AbortSignal
  /** The server has said something. */
  heard: () => void
  /** The connection is lost; another try comes after so long. */
  lost: (error: unknown, retryMs: number) => void
}

const POLL_MS = 1_000

export async function* follow(server: Holdfast, wanted: FollowWanted): AsyncGenerator<StatusChange, void, void> {
  const { spans, signal, heard, lost } = wanted
  while (!signal.aborted) {
    try {
      const status = await server.within(signal).status({ spans: spans ?? undefined })
      heard()
      yield { ...status, since: null, gone: [] }
    } catch (error) {
      if (signal.aborted) return
      if (!isAway(error)) throw error
      lost(error, POLL_MS)
    }
    await sleep(POLL_MS, signal).catch(() => {})
  }
}
