// Crowds for race tests.

/** Runs `count` clients at once and answers what each came home with. */
export function clients<T>(count: number, client: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => client(index)))
}

/** Does `jobs` jobs, `width` at a time, in order of their index. */
export async function inParallel<T>(width: number, jobs: number, job: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  await clients(Math.min(width, jobs), async () => {
    while (next < jobs) {
      const index = next++
      results[index] = await job(index)
    }
  })
  return results
}

/** A repeatable source of chance: the same seed gives the same race plan. */
export function chance(seed: number): (below: number) => number {
  let state = seed >>> 0
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
