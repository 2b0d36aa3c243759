// One connection to a stream of server-sent events, until it breaks or is silent for too long.
import { type Told, toldIn } from './event-lines.ts'
import type { Api, Query } from './wire.ts'

interface ConnectionWanted {
  path: string
  query: Query
  silenceMaxMs: number
  signal?: AbortSignal | undefined
  /** Called whenever the server said something, be it only that it is there. */
  heard?: (() => void) | undefined
}

export async function* connectionTo(api: Api, wanted: ConnectionWanted): AsyncGenerator<Told, void, void> {
  const { path, query, silenceMaxMs, signal, heard } = wanted
  const over = new AbortController()
  const abort = () => over.abort()
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  let silence = setTimeout(abort, silenceMaxMs)
  try {
    const chunks = await api.stream(path, query, over.signal)
    heard?.()
    const listened = (async function* () {
      for await (const chunk of chunks) {
        clearTimeout(silence)
        silence = setTimeout(abort, silenceMaxMs)
        heard?.()
        yield chunk
      }
    })()
    yield* toldIn(listened)
  } finally {
    clearTimeout(silence)
    signal?.removeEventListener('abort', abort)
    // Also hangs up when the caller wants no more.
    abort()
  }
}
