// Does something with each of many, several at a time, and no more.

interface AtOnceOptions {
  /** At a time. */
  width?: number
  /** Is told how many are done. */
  onDone?: (done: number) => void
}

/** Requests that keep a server busy and leave it room for others. */
const WIDTH = 24

/** After a failure nothing new is begun. */
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
