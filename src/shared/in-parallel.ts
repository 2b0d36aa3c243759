/**
 * Works on all items, on so many of them at a time. After a failure none is begun any more, and it throws when those that
 * were begun are over: nothing goes on behind the back of whoever waits.
 */
export async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>) {
  const left = items.toReversed()
  const worker = async () => {
    try {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item)
    } catch (error) {
      left.length = 0
      throw error
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(width, items.length) }, worker))
  const failed = ended.find(each => each.status === 'rejected')
  if (failed) throw failed.reason
}
