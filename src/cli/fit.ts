// Makes a table fit the terminal: shortens or drops columns, the least useful first. The name is never dropped.
import { widestOf } from './width.ts'

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
/** Narrower than this, a heading or text is useless. */
const HEADING_MIN = 7
const TEXT_MIN = 10
const NAME_SHARE = 2 / 3

/** The columns unchanged if they fit, else after the first concession that makes them fit. */
export function fitted(columns: readonly Column[], width: number): readonly Column[] {
  let last = columns
  for (const tried of concessions(columns, width)) {
    last = tried
    if (sumOf(tried) <= width) break
  }
  return last
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
  yield (columns = columns.map(one => ({
    ...one,
    width: Math.max(Math.min(one.width, HEADING_MIN), widestOf(one.cells)),
  })))
  yield cutDown(columns, width, isName)
  while (columns.length > 1) {
    yield cutDown((columns = columns.toSpliced(leastWanted(columns, isName), 1)), width, isName)
  }
  yield columns.map(one => ({ ...one, width }))
}

const NAME = /^(name|hypervisor_hostname)$/
const ID = /^(uuid|id)$/

const sumOf = (columns: readonly Column[]) =>
  columns.reduce((sum, { width }) => sum + width, GAP.length * (columns.length - 1))

const INSTANT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d):\d\d(\.\d+)?(Z|\+00:00)?$/
const isInstant = (cell: string) => INSTANT.test(cell)
/** Also as it is shown to people: `tomorrow 02:07`, `Fri 20 Nov 19:00`, `from 20 Nov`. */
const isMinute = (cell: string) =>
  /^(\d{4}-\d\d-\d\d|[A-Za-z][A-Za-z0-9 ]{2,20}) \d\d:\d\d( \S+)?$|^[A-Za-z ]*\d\d? [A-Z][a-z]{2}( \d{4})?$/.test(cell)
const toTheMinute = (cell: string) => cell.replace(INSTANT, '$1 $2')

const withShortIds = (cell: string) => cell.replaceAll(/\b([0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '$1…')

export const isEmpty = ({ cells }: Column) => cells.length > 0 && cells.every(cell => cell === '' || cell === '-')

/** Half a time or half a state says nothing. */
const isWord = ({ heading, cells }: Column) => heading === 'state' || cells.some(isMinute)

/** Cuts the widest texts first. A name is cut only if it takes more than NAME_SHARE of the line. */
function cutDown(columns: readonly Column[], width: number, isName: (column: Column) => boolean): Column[] {
  const cut = columns.map(one => ({
    ...one,
    width: Math.min(one.width, width),
    least: isName(one) ? width * NAME_SHARE : isWord(one) ? Infinity : TEXT_MIN,
  }))
  for (let over = sumOf(cut) - width; over > 0; over--) {
    const long = cut.filter(one => one.width > one.least)
    const texts = long.filter(one => !isName(one))
    const [longest] = (texts.length > 0 ? texts : long).toSorted((a, b) => b.width - a.width)
    if (!longest) break
    longest.width--
  }
  return cut
}

/** The id goes first if there is a name, then columns from the right. */
function leastWanted(columns: readonly Column[], isName: (column: Column) => boolean): number {
  const id = columns.findIndex(one => ID.test(one.heading) && !isName(one))
  return id >= 0 ? id : columns.findLastIndex(one => !isName(one))
}
