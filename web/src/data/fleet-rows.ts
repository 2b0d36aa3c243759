// Rows of the fleet, apart from signals.
import type { Machine, Span } from '../../../src/client/status.ts'

/** The machine's place among the others: names with numbers in them sort by the numbers. */
export const orderOf = ({ name, uuid }: Pick<Machine, 'name' | 'uuid'>): string =>
  `${(name ?? uuid).replace(/\d+/g, digits => digits.padStart(12, '0'))} ${uuid}`

/** The uuids that were known and are no longer there. */
export function dropMissing(known: Iterable<string>, machines: readonly Machine[]): string[] {
  const there = new Set(machines.map(({ uuid }) => uuid))
  return [...known].filter(uuid => !there.has(uuid))
}

/** The machine is called so from now on; null for not at all. `before` may be another's name by now. */
export function call(names: Map<string, string>, uuid: string, before: string | null, name: string | null): void {
  if (before !== null && names.get(before) === uuid) names.delete(before)
  if (name !== null) names.set(name, uuid)
}

export function spansByMachine(spans: readonly Span[]): Map<string, readonly Span[]> {
  const found = new Map<string, Span[]>()
  for (const span of spans) {
    const some = found.get(span.machine)
    if (some) some.push(span)
    else found.set(span.machine, [span])
  }
  return found
}
