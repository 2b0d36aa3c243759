// Pauses and alarms, with what every platform has.

/** The longest delay that setTimeout takes: with more it doesn't wait at all. */
const TIMER_MAX_MS = 2 ** 31 - 1

/** Rejects with the signal's reason. Ends after some weeks, if more is asked for. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      },
      Math.min(ms, TIMER_MAX_MS),
    )
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Acts at this instant, unless it is stopped before; never if it is Infinity. */
export function untilInstant(at: number, now: () => number, act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = () => {
    const left = at - now()
    if (left <= 0) act()
    else timer = setTimeout(arm, Math.min(left, TIMER_MAX_MS))
  }
  if (at !== Infinity) arm()
  return { stop: () => clearTimeout(timer) }
}
