// Percentiles and medians for the benches.

/** The numbers must be sorted; 0 if there are none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export function median(numbers: readonly number[]): number {
  return percentile(
    numbers.toSorted((a, b) => a - b),
    0.5,
  )
}

/** The run whose value is the median, so that all reported numbers come from one run. */
export function medianBy<T>(items: readonly T[], value: (item: T) => number): T {
  const sorted = items.toSorted((a, b) => value(a) - value(b))
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  if (middle === undefined) throw new Error('the median of nothing')
  return middle
}
