// Several requests at a time, and no more.

/** Enough to keep a server busy, few enough to leave it room for others. */
const AT_ONCE_MAX = 24

/** After a failure nothing new is begun. */
export async function atOnce<T>(
  items: readonly T[],
  act: (item: T, at: number) => Promise<unknown>,
  onDone: (done: number) => void = () => {},
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
  await Promise.all(Array.from({ length: Math.min(AT_ONCE_MAX, items.length) }, work))
}
