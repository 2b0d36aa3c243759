// The one connection that keeps the fleet live: opened with the login, opened again for another window of time, healed
// when it breaks.
import { createEffect, createSignal, on, onCleanup } from 'solid-js'
import { ApiError, isAway } from '../../../src/client/errors.ts'
import { serverNow } from './clock.ts'
import { forget, take } from './fleet.ts'
import { forNext, leave, login, server } from './session.ts'

type Liveness =
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'lost'; since: number; retryAt: number }
  /** The server refuses to show anything. */
  | { state: 'refused'; reason: string }

/** The server says something every 2 s. */
const SILENCE_MAX_MS = 5_000
/** A browser has six connections for a server: tabs that nobody looks at must not keep them from the others. */
const HIDDEN_MAX_MS = 2_000

const [liveness, setLiveness] = createSignal<Liveness>({ state: 'connecting' })
const [window, setWindow] = createSignal<{ from: string; to: string } | null>(null, { equals: sameWindow })
/** When the server was last heard. */
let heardAt = 0
/** What was told last: a new connection goes on from there. */
let cursor: string | null = null
let connection: AbortController | null = null
/** Nobody looks, so nothing is asked. */
let isPaused = false

// Also where no page is shown that would follow.
forNext(forget)

export { liveness }
export const isLive = () => liveness().state === 'live'
export const lastHeard = () => heardAt

/** Asks for what is promised within this window, from now on. */
export const showSpans = (from: number, to: number) =>
  setWindow({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })

/** Tries again at once. */
export function reconnect(): void {
  isPaused = false
  if (login() !== null) void connect(cursor)
}

/** Keeps the fleet live while the caller is shown. */
export function useLiveFleet(): void {
  createEffect(
    on(login, who => {
      forget()
      cursor = null
      setLiveness({ state: 'connecting' })
      connection?.abort()
      if (who !== null) void connect(null)
    }),
  )
  // Another window of time is another question: everything is asked again.
  createEffect(on(window, () => login() !== null && void connect(null), { defer: true }))
  const watch = setInterval(watchSilence, 1_000)
  let hiding: ReturnType<typeof setTimeout> | undefined
  const wake = () => {
    clearTimeout(hiding)
    if (document.visibilityState === 'hidden') hiding = setTimeout(pause, HIDDEN_MAX_MS)
    else if (isPaused || liveness().state === 'lost') reconnect()
  }
  wake()
  document.addEventListener('visibilitychange', wake)
  globalThis.addEventListener('online', wake)
  onCleanup(() => {
    clearInterval(watch)
    clearTimeout(hiding)
    document.removeEventListener('visibilitychange', wake)
    globalThis.removeEventListener('online', wake)
    connection?.abort()
    // Whoever logs in next sees nothing of this one's, not even for a moment.
    forget()
  })
}

function pause(): void {
  isPaused = true
  connection?.abort()
  // Whoever looks again sees what was true a while ago, until the server is heard.
  setLiveness({ state: 'connecting' })
}

async function connect(since: string | null): Promise<void> {
  connection?.abort()
  cursor = since
  if (isPaused) return
  const own = new AbortController()
  connection = own
  const heard = () => {
    heardAt = serverNow()
    if (liveness().state !== 'live') setLiveness({ state: 'live' })
  }
  const lost = (_error: unknown, retryMs: number) => {
    if (!own.signal.aborted) setLost(retryMs)
  }
  try {
    const wanted = { since: since ?? undefined, spans: window() ?? undefined, signal: own.signal, heard, lost }
    for await (const change of server().followStatus(wanted)) {
      if (own.signal.aborted) return
      heard()
      cursor = change.cursor
      take(change)
    }
  } catch (error) {
    if (own.signal.aborted) return
    if (error instanceof ApiError && error.status === 401) await leave('ended')
    else if (isAway(error)) setLost(0)
    else setLiveness({ state: 'refused', reason: error instanceof Error ? error.message : String(error) })
  }
}

function setLost(retryMs: number): void {
  const before = liveness()
  const since = before.state === 'lost' ? before.since : heardAt || serverNow()
  setLiveness({ state: 'lost', since, retryAt: serverNow() + retryMs })
}

/** A connection that says nothing is as good as none. */
function watchSilence(): void {
  if (!isPaused && liveness().state === 'live' && serverNow() - heardAt > SILENCE_MAX_MS) {
    setLost(0)
    reconnect()
  }
}

function sameWindow(a: { from: string; to: string } | null, b: { from: string; to: string } | null): boolean {
  return a?.from === b?.from && a?.to === b?.to
}
