// Gauges about what there is: each room says which it has and counts them; census.ts puts them together.

/** The names of gauges, what they say, and the label that tells the numbers of one apart. */
export type Gauges = Readonly<Record<string, { readonly help: string; readonly label?: string }>>

export interface Sample<Name extends string = string> {
  readonly name: Name
  readonly label?: string
  readonly value: number
}

/** A number for each state, zero for those that nothing is in. */
export const byState = <Name extends string>(
  name: Name,
  states: readonly string[],
  rows: readonly { state: string; count: number }[],
) => states.map(label => ({ name, label, value: rows.find(({ state }) => state === label)?.count ?? 0 }))

/** Zero where there is nothing that could be old. */
export const secondsSince = (at: number | null | undefined, now: number): number =>
  at === null || at === undefined ? 0 : Math.max(now - at, 0) / 1_000
