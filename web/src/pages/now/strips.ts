// Where tiles stand: in strips of so many a row, each group beginning a new strip. Pure, so that only what is in view has
// to be drawn, and keys can walk to what isn't.
import type { Group } from './groups.ts'

export interface TileSizes {
  /** Tiles in a strip, and groups beside each other. */
  columns: number
  abreast: number
  /** Pixels: a tile with the gap below, what stands above a group, and the gap below it. */
  strip: number
  head: number
  foot: number
}

/** One group, or two beside each other. */
export interface Line {
  /** The keys of its groups. */
  key: string
  groups: readonly Group[]
  /** Its first strip among all, and how many it has. */
  from: number
  count: number
  /** Pixels from the top of all lines. */
  top: number
  height: number
}

interface Strips {
  lines: readonly Line[]
  /** Of each strip, in pixels. */
  heights: readonly number[]
}

const stripsOfGroup = ({ ids }: Pick<Group, 'ids'>, columns: number) => Math.max(1, Math.ceil(ids.length / columns))

export function stripsOf(groups: readonly Group[], { columns, abreast, strip, head, foot }: TileSizes): Strips {
  const lines: Line[] = []
  const heights: number[] = []
  let top = 0
  for (let at = 0; at < groups.length; at += abreast) {
    const some = groups.slice(at, at + abreast)
    const count = Math.max(...some.map(group => stripsOfGroup(group, columns)))
    const height = head + count * strip + foot
    const key = some.map(group => group.key).join('\n')
    lines.push({ key, groups: some, from: heights.length, count, top, height })
    for (let row = 0; row < count; row++) {
      heights.push(strip + (row === 0 ? head : 0) + (row === count - 1 ? foot : 0))
    }
    top += height
  }
  return { lines, heights }
}

/** The lines that are in view. */
export function linesIn({ lines }: Strips, { from, to }: { from: number; to: number }): readonly Line[] {
  return lines.filter(line => line.from < to && line.from + line.count > from)
}

/** The strips of a line that are in view, counted within it. */
export const rowsOf = ({ from, count }: Line, window: { from: number; to: number }) => ({
  first: Math.max(0, Math.min(count, window.from - from)),
  last: Math.max(0, Math.min(count, window.to - from)),
})

interface Place {
  group: Group
  /** Of the group among all, and of the tile in the group. */
  at: number
  index: number
}

export function placeOf(groups: readonly Group[], id: string): Place | null {
  for (const [at, group] of groups.entries()) {
    const index = group.ids.indexOf(id)
    if (index >= 0) return { group, at, index }
  }
  return null
}

/** Pixels from the top of all lines to the strip of a tile. */
export function topOf(strips: Strips, { columns, strip, head }: TileSizes, { group, index }: Place): number {
  const line = strips.lines.find(({ groups }) => groups.some(({ key }) => key === group.key))
  return (line?.top ?? 0) + head + Math.floor(index / columns) * strip
}

/** The tile that a key leads to; the same one at an end. */
export function stepTo(groups: readonly Group[], id: string, key: string, columns: number): string {
  const place = placeOf(groups, id)
  if (!place) return groups[0]?.ids[0] ?? id
  const { group, at, index } = place
  const { ids } = group
  const column = index % columns
  if (key === 'ArrowRight') return ids[index + 1] ?? groups[at + 1]?.ids[0] ?? id
  if (key === 'ArrowLeft') return ids[index - 1] ?? groups[at - 1]?.ids.at(-1) ?? id
  if (key === 'Home') return ids[index - column] ?? id
  if (key === 'End') return ids[Math.min(ids.length, index - column + columns) - 1] ?? id
  if (key === 'PageDown') return groups[at + 1]?.ids[0] ?? ids.at(-1) ?? id
  if (key === 'PageUp') return index > 0 ? (ids[0] ?? id) : (groups[at - 1]?.ids[0] ?? id)
  if (key === 'ArrowDown') return below(groups, place, columns, column) ?? id
  return above(groups, place, columns, column) ?? id
}

/** In the same column of the next strip, or the last of a shorter one. */
function below(groups: readonly Group[], { group: { ids }, at, index }: Place, columns: number, column: number) {
  const next = index - column + columns
  if (next < ids.length) return ids[Math.min(ids.length - 1, next + column)]
  const after = groups[at + 1]?.ids ?? []
  return after[Math.min(after.length, columns, column + 1) - 1]
}

function above(groups: readonly Group[], { group: { ids }, at, index }: Place, columns: number, column: number) {
  if (index >= columns) return ids[index - columns]
  const before = groups[at - 1]?.ids ?? []
  const first = Math.floor((before.length - 1) / columns) * columns
  return before[Math.min(before.length - 1, first + column)]
}
