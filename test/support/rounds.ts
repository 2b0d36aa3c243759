// The number of rounds of random tests: few by default, many with HOLDFAST_LONG.

/** The long run: all rounds, and all routes on both databases. */
export const isLong = Boolean(process.env['HOLDFAST_LONG'])

export const rounds = (few: number, many: number): number => (isLong ? many : few)

/** The first of each kind; with HOLDFAST_LONG all. */
export function oneOfEach<T>(all: readonly T[], kindOf: (one: T) => string): readonly T[] {
  if (isLong) return all
  return [...Map.groupBy(all, kindOf).values()].map(([first]) => first!)
}
