// Gauges for the metrics: each room names its gauges and counts them; measure/census.ts collects them.

/** Gauges by name, each with its help text and the label that tells its values apart. */
export type Gauges = Readonly<Record<string, { readonly help: string; readonly label?: string }>>

export interface Sample<Name extends string = string> {
  readonly name: Name
  readonly label?: string
  readonly value: number
}

/** A sample for each state, zero where nothing is in that state. */
export const byState = <Name extends string>(
  name: Name,
  states: readonly string[],
  rows: readonly { state: string; count: number }[],
) => states.map(label => ({ name, label, value: rows.find(({ state }) => state === label)?.count ?? 0 }))

/** Zero when `at` is missing. */
export const secondsSince = (at: number | null | undefined, now: number): number =>
  at === null || at === undefined ? 0 : Math.max(now - at, 0) / 1_000
