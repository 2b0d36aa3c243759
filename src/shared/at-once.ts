// Runs an action for each of many items, at most `width` at a time.

interface AtOnceOptions {
  /** How many run at a time. */
  width?: number
  /** Called with the number that are done. */
  onDone?: (done: number) => void
}

/** Enough requests to keep a server busy, and few enough to leave room for others. */
const WIDTH = 24

/** After a failure nothing new is started. */
export async function atOnce<T>(
  items: readonly T[],
  act: (item: T, at: number) => Promise<unknown>,
  { width = WIDTH, onDone = () => {} }: AtOnceOptions = {},
): Promise<void> {
  let [next, done] = [0, 0]
  const work = async () => {
    while (next < items.length) {
      const at = next++
      try {
        await act(items[at]!, at)
      } catch (error) {
        next = items.length
        throw error
      }
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work))
}
