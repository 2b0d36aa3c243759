// How long tests go on that could go on for ever: a few rounds in each run, many where HOLDFAST_LONG says so.

/** The long run: all rounds, and all routes on both databases. */
export const isLong = Boolean(process.env['HOLDFAST_LONG'])

export const rounds = (few: number, many: number): number => (isLong ? many : few)

/** The first of each kind; in the long run all. */
export function oneOfEach<T>(all: readonly T[], kindOf: (one: T) => string): readonly T[] {
  if (isLong) return all
  return [...Map.groupBy(all, kindOf).values()].map(([first]) => first!)
}
