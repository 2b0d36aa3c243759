// The lines of the table: a head for each group, and its machines unless it is folded. Each line is a text, so that what
// stays is known to be the same.
import type { Group, Layout } from './groups.ts'

const [GROUP, MACHINE] = ['g ', 'm ']

const groupLine = (key: string) => GROUP + key
const machineLine = (id: string) => MACHINE + id

export function linesOf({ groups }: Layout, folded: ReadonlySet<string>, hasHeads: boolean): string[] {
  return groups.flatMap(({ key, ids }) => [
    ...(hasHeads ? [groupLine(key)] : []),
    ...(hasHeads && folded.has(key) ? [] : ids.map(machineLine)),
  ])
}

export const isGroup = (line: string): boolean => line.startsWith(GROUP)
/** The key of a group's line, or the id of a machine's. */
export const subjectOf = (line: string): string => line.slice(2)

/** Where a key leads from a line; the same at an end. */
export function lineAfter(
  lines: readonly string[],
  line: string | null,
  key: string,
  page: number,
): string | undefined {
  const at = line === null ? -1 : lines.indexOf(line)
  if (at < 0) return lines[0]
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: lines.length }[
    key
  ]
  return to === undefined ? undefined : lines[Math.max(0, Math.min(lines.length - 1, to))]
}

export const groupOfLine = (groups: readonly Group[], line: string): Group | undefined =>
  groups.find(({ key }) => key === subjectOf(line))
