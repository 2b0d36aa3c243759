// Makes a table fit the terminal: shortens or drops columns, the least useful first. The name is never cut or dropped
// (an id in its place may be), and a heading never cut: it may take several lines.
import { cutTo, widestOf, widthOf } from './width.ts'

export interface Column {
  readonly heading: string
  readonly cells: readonly string[]
  /** Longer cells are cut to this width. */
  readonly width: number
}

export const columnOf = (heading: string, cells: readonly string[]): Column => ({
  heading,
  cells,
  width: widestOf([heading, ...cells]),
})

export const GAP = '  '
/** Narrower than this, a text is useless. */
const TEXT_MIN = 10
/** A part of a word or an address says nothing, unless it is a long one. */
const WORD_MAX = 20
/** A word of a heading is this wide where a hyphen saves a column. */
const HYPHENATED = 8

/** At `_` and spaces. */
const wordsOf = (heading: string) => heading.split(/(?<=[_ ])/)

/** A word of a heading, with hyphens if it is too long for its column. */
function hyphenated(word: string, width: number): string[] {
  if (widthOf(word.trimEnd()) <= width) return [word]
  const start = cutTo(word, Math.max(width - 1, 1))
  return start === '' ? [word] : [`${start}-`, ...hyphenated(word.slice(start.length), width)]
}

/** A heading in lines of this width. */
export function headingIn(heading: string, width: number): string[] {
  const lines = ['']
  for (const word of wordsOf(heading).flatMap(one => hyphenated(one, width))) {
    if (widthOf((lines.at(-1)! + word).trimEnd()) > width && lines.at(-1) !== '') lines.push('')
    lines[lines.length - 1] += word
  }
  return lines.map(line => cutTo(line.trimEnd(), width))
}

const narrowest = ({ heading }: Column) => widestOf(wordsOf(heading).map(word => word.trimEnd()))

/** The columns unchanged if they fit, else after the first concession that makes them fit. */
export function fitted(columns: readonly Column[], width: number): readonly Column[] {
  let last = columns
  for (const tried of concessions(columns, width)) {
    last = tried
    if (sumOf(tried) <= width) break
  }
  return roomier(last, width)
}

/** Headings get the room that is left, from the left. */
function roomier(columns: readonly Column[], width: number): readonly Column[] {
  let left = width - sumOf(columns)
  return columns.map(one => {
    const more = Math.max(widthOf(one.heading) - one.width, 0)
    if (more > left) return one
    left -= more
    return { ...one, width: one.width + more }
  })
}

function* concessions(all: readonly Column[], width: number): Generator<readonly Column[]> {
  const name = (all.find(({ heading }) => NAME.test(heading)) ?? all.find(({ heading }) => ID.test(heading)))?.heading
  const isName = ({ heading }: Column) => heading === name
  const changed = ({ heading, cells }: Column, change: (cell: string) => string) => columnOf(heading, cells.map(change))
  let columns = [...all]
  yield columns
  yield (columns = columns.map(one => (one.cells.some(isInstant) ? changed(one, toTheMinute) : one)))
  for (let at = columns.length - 1; at >= 0; at--) {
    if (!isName(columns[at]!)) yield (columns = columns.with(at, changed(columns[at]!, withShortIds)))
  }
  if (!columns.every(isEmpty)) yield (columns = columns.filter(one => isName(one) || !isEmpty(one)))
  yield (columns = columns.map(one => ({ ...one, width: Math.max(narrowest(one), widestOf(one.cells)) })))
  const hyphens = columns.map(one => ({
    ...one,
    width: Math.max(Math.min(narrowest(one), HYPHENATED), widestOf(one.cells)),
  }))
  if (sumOf(hyphens) <= width) yield hyphens
  yield cutDown(columns, width, isName)
  // The id of what has no name must not hide whose it is.
  const idsCut = columns.map(one => (NAME.test(one.heading) ? changed(one, withShortIds) : one))
  yield cutDown((columns = idsCut), width, isName)
  while (columns.length > 1) {
    yield cutDown((columns = columns.toSpliced(leastWanted(columns, isName), 1)), width, isName)
  }
  yield columns.map(one => ({ ...one, width }))
}

const NAME = /^(name|hypervisor_hostname)$/
const ID = /^(uuid|id)$/
export const isId = (heading: string) => ID.test(heading)

export const sumOf = (columns: readonly Column[]) =>
  columns.reduce((sum, { width }) => sum + width, GAP.length * (columns.length - 1))

const INSTANT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d):\d\d(\.\d+)?(Z|\+00:00)?$/
const isInstant = (cell: string) => INSTANT.test(cell)
/** Also as it is shown to people: `tomorrow 02:07`, `Fri 20 Nov 19:00`, `from 20 Nov`. */
const isMinute = (cell: string) =>
  /^(\d{4}-\d\d-\d\d|[A-Za-z][A-Za-z0-9 ]{2,20}) \d\d:\d\d( \S+)?$|^[A-Za-z ]*\d\d? [A-Z][a-z]{2}( \d{4})?$/.test(cell)
const toTheMinute = (cell: string) => cell.replace(INSTANT, '$1 $2')

export const withShortIds = (cell: string) => cell.replaceAll(/\b([0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '$1…')

export const isEmpty = ({ cells }: Column) => cells.length > 0 && cells.every(cell => cell === '' || cell === '-')

const isState = ({ heading }: Column) => /(^|_)stat(e|us)$/.test(heading)

/** States, times, and columns of short words are never cut. */
const isWhole = (one: Column) =>
  isState(one) || one.cells.some(isMinute) || one.cells.every(cell => !cell.includes(' ') && widthOf(cell) <= WORD_MAX)

/** Cuts the widest texts first. A name is cut only if it is wider than the line. */
function cutDown(columns: readonly Column[], width: number, isName: (column: Column) => boolean): Column[] {
  const cut = columns.map(one => ({
    ...one,
    width: Math.min(one.width, width),
    least: isName(one) || isWhole(one) ? Infinity : Math.max(TEXT_MIN, narrowest(one)),
  }))
  for (let over = sumOf(cut) - width; over > 0; over--) {
    const [longest] = cut.filter(one => one.width > one.least).toSorted((a, b) => b.width - a.width)
    if (!longest) break
    longest.width--
  }
  return cut
}

/** The id goes first if there is a name, then columns from the right, states and times last. */
function leastWanted(columns: readonly Column[], isName: (column: Column) => boolean): number {
  const id = columns.findIndex(one => ID.test(one.heading) && !isName(one))
  if (id >= 0) return id
  const other = columns.findLastIndex(one => !isName(one) && !isState(one) && !one.cells.some(isMinute))
  return other >= 0 ? other : columns.findLastIndex(one => !isName(one))
}
