// Formats tables and sheets for people, to fit the terminal.
import { styleText } from 'node:util'
import { type Column, columnOf, fitted, GAP, headingIn, isEmpty, isId, sumOf, withShortIds } from './fit.ts'
import type { Output } from './terminal.ts'
import { cutTo, widestOf, widthOf } from './width.ts'

export interface Screen {
  /** Infinity if it isn't a terminal, because a pipe should get everything. */
  width: number
  hasColour: boolean
}

export const screenOf = (stream: Output): Screen => ({
  width: stream.isTTY ? stream.columns || 80 : Infinity,
  hasColour: stream.isTTY === true && stream.hasColors?.() === true,
})

const NARROWEST = 4

type Rows = readonly (readonly string[])[]

/** Which columns leave the table when there is too little room. */
export interface Folds {
  /** Rows are in its order, and its values stand above their rows. */
  above?: string | undefined
  /** Stand below their row: the first of these with which the others have room. */
  below: readonly (readonly string[])[]
}

/** One row a line. What has no room is folded, then cut or left out, and a line below names what is left out. */
export function tableOf(
  headings: readonly string[],
  rows: Rows,
  screen: Screen,
  { above, below }: Folds = { below: [] },
): string {
  const outside = above === undefined ? [] : [above]
  const hasRoom = (some: Rows, folded: readonly string[]) =>
    sumOf(columnsOf(...withoutColumns(headings, some, folded))) <= screen.width
  const isFixed = above === undefined && below.length === 0
  // Part of an id is enough, before anything is folded.
  const short = isFixed ? rows : withoutLongIds(headings, rows)
  for (const [some, folded] of [[rows, []] as const, [short, []] as const, [short, outside] as const]) {
    if (hasRoom(some, folded)) return foldedTable(headings, some, { above: folded[0], below: [] }, screen)
  }
  const isRoom = (folded: readonly string[]) => {
    const all = columnsOf(...withoutColumns(headings, short, [...outside, ...folded]))
    return missingIn(all, fitted(all, screen.width)).every(isId)
  }
  return foldedTable(headings, short, { above, below: below.find(isRoom) ?? below.at(-1) ?? [] }, screen)
}

const withoutLongIds = (headings: readonly string[], rows: Rows): Rows =>
  rows.map(row => row.map((cell, at) => (isId(headings[at]!) ? withShortIds(cell) : cell)))

function withoutColumns(headings: readonly string[], rows: Rows, names: readonly string[]): [string[], string[][]] {
  const isLeft = (_: string, at: number) => !names.includes(headings[at]!)
  return [headings.filter(isLeft), rows.map(row => row.filter(isLeft))]
}

function foldedTable(
  headings: readonly string[],
  rows: Rows,
  { above, below }: { above: string | undefined; below: readonly string[] },
  screen: Screen,
): string {
  const outside = above === undefined ? below : [above, ...below]
  const group = (row: number) => rows[row]?.[headings.indexOf(above!)]
  const aboveRow = (row: number) => {
    const value = group(row)
    if (value === undefined || value === group(row - 1)) return []
    return [painted('bold', cutTo(value === '-' ? `no ${above}` : `${above} ${value}`, screen.width), screen)]
  }
  const belowRow = (row: number) => {
    const said = below.flatMap(name => {
      const cell = rows[row]![headings.indexOf(name)] ?? '-'
      return cell === '-' ? [] : [`${name}: ${cell}`]
    })
    return said.length === 0 ? [] : wrapped(said.join('; '), screen.width - GAP.length).map(part => GAP + part)
  }
  const [kept, cells] = withoutColumns(headings, rows, outside)
  const all = columnsOf(kept, cells)
  const columns = fitted(all, screen.width)
  const lines = [
    ...headingsOf(columns, screen),
    ...rows.flatMap((_, row) => [...aboveRow(row), rowOf(columns, row, screen), ...belowRow(row)]),
    ...leftOut(all, columns).flatMap(said => wrapped(said, screen.width).map(part => painted('dim', part, screen))),
  ]
  return lines.map(one => `${one}\n`).join('')
}

/** Headings that take fewer lines stand right above their column. */
function headingsOf(columns: readonly Column[], screen: Screen): string[] {
  const parts = new Map(columns.map(one => [one, headingIn(one.heading, one.width)]))
  const height = Math.max(...[...parts.values()].map(({ length }) => length))
  return Array.from({ length: height }, (_, line) =>
    lineOf(
      columns,
      one => parts.get(one)!.at(line - height) ?? '',
      text => (text === '' ? '' : painted('bold', text, screen)),
    ),
  )
}

/** The last of these rows, as it stands below a table of the others. */
export const rowBelow = (headings: readonly string[], rows: Rows, screen: Screen): string =>
  `${rowOf(fitted(columnsOf(headings, rows), screen.width), rows.length - 1, screen)}\n`

const columnsOf = (headings: readonly string[], rows: Rows): Column[] =>
  headings.map((heading, at) =>
    columnOf(
      heading,
      rows.map(row => row[at]!),
    ),
  )

const rowOf = (columns: readonly Column[], row: number, screen: Screen) =>
  lineOf(
    columns,
    ({ cells }) => cells[row]!,
    (text, { heading }) => coloured(heading, text, screen),
  )

const lineOf = (
  columns: readonly Column[],
  cellOf: (column: Column) => string,
  paint: (text: string, column: Column) => string,
): string =>
  columns
    .map((column, at) => padded(cellOf(column), column.width, at === columns.length - 1, text => paint(text, column)))
    .join(GAP)
    .trimEnd()

/** The columns that aren't shown although they aren't empty. */
function missingIn(all: readonly Column[], shown: readonly Column[]): string[] {
  const isShown = ({ heading }: Column) => shown.some(one => one.heading === heading)
  return all.filter(one => !isShown(one) && !isEmpty(one)).map(({ heading }) => heading)
}

function leftOut(all: readonly Column[], shown: readonly Column[]): string[] {
  const missing = missingIn(all, shown)
  if (missing.length === 0) return []
  const named = missing.length <= 3 ? missing.join(', ') : `${missing.length} more columns`
  return [`(no room for ${named}; -c chooses columns, -f json has all)`]
}

/** One field a line; long values wrap. */
export function sheetOf(fields: readonly (readonly [string, string])[], screen: Screen): string {
  const left = widestOf(fields.map(([name]) => name))
  const room = Math.max(screen.width - left - GAP.length, NARROWEST)
  const lines = fields.flatMap(([name, value]) =>
    value
      .split('\n')
      .flatMap(part => wrapped(part, room))
      .map((part, at) => {
        const heading = painted('bold', (at === 0 ? name : '').padEnd(left), screen)
        return `${heading}${GAP}${coloured(name, part, screen)}`.trimEnd()
      }),
  )
  return lines.map(line => `${line}\n`).join('')
}

function padded(cell: string, width: number, isLast: boolean, paint: (text: string) => string): string {
  const text = widthOf(cell) > width ? `${cutTo(cell, width - 1)}…` : cell
  return paint(text) + (isLast ? '' : ' '.repeat(Math.max(0, width - widthOf(text))))
}

export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let rest = text
  while (widthOf(rest) > width) {
    const cut = cutTo(rest, width)
    const space = cut.lastIndexOf(' ')
    const taken = space > width / 2 ? cut.slice(0, space + 1) : cut
    lines.push(taken.trimEnd())
    rest = rest.slice(taken.length)
  }
  return [...lines, rest]
}

type Colour = 'bold' | 'green' | 'yellow' | 'red' | 'dim' | 'blue' | 'magenta' | 'cyan'

const painted = (colour: Colour, text: string, { hasColour }: Screen) =>
  hasColour ? styleText(colour, text, { validateStream: false }) : text

const STATES = /^(state|status|provision_state|outcome)$/
/** The states of machines in `holdfast status`. */
const MACHINE_STATES: Readonly<Record<string, Colour>> = {
  free: 'green',
  booked: 'magenta',
  held: 'yellow',
  taken: 'blue',
  broken: 'red',
  maintenance: 'dim',
  setup: 'dim',
  retired: 'dim',
}
const GOOD = /^(active|available|done|reserved)$/i
const BAD = /(^error$|fail)/i

/** Colours only states: green for good, red for bad, yellow for others. */
function coloured(column: string, text: string, screen: Screen): string {
  if (text === '-') return painted('dim', text, screen)
  if (!STATES.test(column) || text === '') return text
  return painted(MACHINE_STATES[text] ?? (BAD.test(text) ? 'red' : GOOD.test(text) ? 'green' : 'yellow'), text, screen)
}
