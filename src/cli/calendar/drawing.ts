// Draws a calendar in a terminal: a row for each machine, time runs across, promises are bars. Pure: what there is, now,
// the zone and the width go in, lines of exactly that width come out.
import { cutTo, widestOf, widthOf } from '../width.ts'
import { axisOf, columnOf, type TimeWindow } from './axis.ts'

/** From top to bottom: where two are at once, the upper one is seen. */
const LOOKS = ['taken', 'held', 'booked', 'maintenance', 'setup', 'retired', 'broken'] as const
export type Look = (typeof LOOKS)[number]

export interface Bar {
  look: Look
  start: number
  /** null without an end. */
  end: number | null
  /** Shown where there is room. */
  label: string
}

export interface ChartRow {
  name: string
  bars: readonly Bar[]
  /** Stands above others, across the chart. */
  isHeading?: boolean
}

export interface Chart {
  rows: readonly ChartRow[]
  from: number
  to: number
  now: number
  zone: string
  /** Of a line, in cells of the terminal. */
  width: number
  isAscii: boolean
}

export interface Piece {
  text: string
  look: Look | 'now' | 'grid' | 'axis' | 'heading' | null
}

type Line = readonly Piece[]

interface Signs {
  fill: Record<Look, string>
  /** The last cells of a bar without an end. */
  fade: Record<Look, string>
  /** The first cell of a bar that touches the one before it. */
  seam: string
  several: string
  now: string
  nowAbove: string
  grid: string
  cut: string
}

const BLOCKS: Signs = {
  fill: { taken: '█', held: '▒', booked: '▓', maintenance: '░', setup: '╌', retired: '─', broken: '×' },
  fade: { taken: '▓▒░', held: '░ ░', booked: '▒░ ', maintenance: ' ░ ', setup: ' ╌ ', retired: ' ─ ', broken: ' × ' },
  seam: '│',
  several: '+',
  now: '│',
  nowAbove: '▼',
  grid: '·',
  cut: '…',
}
const PLAIN: Signs = {
  fill: { taken: '#', held: '~', booked: '=', maintenance: '/', setup: '-', retired: ':', broken: 'x' },
  fade: { taken: '>>>', held: '>>>', booked: '>>>', maintenance: '>>>', setup: '>>>', retired: '>>>', broken: '>>>' },
  seam: '|',
  several: '+',
  now: '|',
  nowAbove: 'v',
  grid: '.',
  cut: '_',
}

const signsFor = (isAscii: boolean) => (isAscii ? PLAIN : BLOCKS)

/** Narrower than this, the beginning of a label says nothing. */
const LABEL_MIN = 4
/** How many cells fade. */
const FADE = 3
const NAMES_MAX_SHARE = 0.4
const CHART_MIN = 8

/** The axis in two lines, where now is, and a line for each machine. */
export function drawn(chart: Chart): Line[] {
  const { rows, now, width, isAscii } = chart
  const signs = signsFor(isAscii)
  const left = leftOf(chart)
  const window = windowOf(chart)
  const { lines, ticks } = axisOf(window)
  const background: Background = { window, signs, ticks, now: columnOf(now, window) }
  const margin: Piece = { text: ' '.repeat(left), look: null }
  return [
    ...lines.map(text => [margin, { text, look: 'axis' } as const]),
    ...(isIn(background.now, window) ? [[margin, nowLine(background)]] : []),
    ...rows.map(({ name, bars, isHeading }): Line => {
      if (isHeading) return [{ text: padded(shortened(name, width, signs.cut), width), look: 'heading' }]
      return [{ text: padded(shortened(name, left - 1, signs.cut), left), look: null }, ...across(bars, background)]
    }),
  ]
}

/** The room for names. */
function leftOf({ rows, width }: Chart): number {
  const names = rows.filter(({ isHeading }) => !isHeading).map(({ name }) => name)
  const named = Math.min(widestOf(names), Math.max(Math.floor(width * NAMES_MAX_SHARE), 1))
  return Math.max(0, Math.min(named + 1, width - CHART_MIN))
}

const windowOf = (chart: Chart): TimeWindow => {
  const { from, to, zone, width } = chart
  return { from, to, zone, columns: width - leftOf(chart) }
}

const LEGEND_GAP = '   '

/** What the signs mean, for those that are in the chart. */
export function legendOf(chart: Chart): Line[] {
  const lines: Piece[][] = []
  let used = Infinity
  for (const piece of meaningsIn(chart)) {
    const needed = LEGEND_GAP.length + widthOf(piece.text)
    if (used + needed <= chart.width) {
      lines.at(-1)!.push({ text: LEGEND_GAP, look: null }, piece)
      used += needed
    } else {
      lines.push([piece])
      used = widthOf(piece.text)
    }
  }
  return lines
}

function meaningsIn(chart: Chart): Piece[] {
  const { rows, isAscii } = chart
  const { fill, fade, several } = signsFor(isAscii)
  const window = windowOf(chart)
  const bars = rows.flatMap(row => row.bars)
  const looks = LOOKS.filter(look => bars.some(bar => bar.look === look))
  const endless = LOOKS.find(look => bars.some(bar => bar.look === look && bar.end === null))
  return [
    ...looks.map(look => ({ text: `${fill[look]} ${look}`, look })),
    ...(endless ? [{ text: `${fill[endless]}${fade[endless]} without an end`, look: endless }] : []),
    ...(rows.some(row => cellsOf(row.bars, window).includes('several'))
      ? [{ text: `${several} several`, look: null }]
      : []),
  ]
}

interface Background {
  window: TimeWindow
  signs: Signs
  ticks: ReadonlySet<number>
  /** The column of now. */
  now: number
}

const isIn = (column: number, { columns }: TimeWindow) => column >= 0 && column < columns

function nowLine({ window: { columns }, now, signs }: Background): Piece {
  const after = `${signs.nowAbove} now`
  const before = `now ${signs.nowAbove}`
  const text =
    now + after.length <= columns
      ? ' '.repeat(now) + after
      : now + 1 >= before.length
        ? ' '.repeat(now + 1 - before.length) + before
        : ' '.repeat(now) + signs.nowAbove
  return { text: text.padEnd(columns), look: 'now' }
}

/** What is in each column: a bar, several that share it, or nothing. */
type Cell = Bar | 'several' | null

/** A bar is seen in every column that it touches, so what looks free is free. Of bars that share a column the first has it. */
export function cellsOf(bars: readonly Bar[], window: TimeWindow): Cell[] {
  const cells = Array<Cell>(window.columns).fill(null)
  const isSame = (cell: Cell, { look }: Bar) => cell === 'several' || cell?.look === look
  const deepestFirst = bars.toSorted(
    (a, b) =>
      LOOKS.indexOf(b.look) - LOOKS.indexOf(a.look) || a.start - b.start || (a.end ?? Infinity) - (b.end ?? Infinity),
  )
  for (const bar of deepestFirst) {
    const [first, after] = reachOf(bar, window)
    let isSeen = false
    for (let at = first; at < after; at++) {
      if (isSame(cells[at]!, bar)) continue
      cells[at] = bar
      isSeen = true
    }
    if (!isSeen && first < after) cells[first] = 'several'
  }
  return cells
}

/** The first column that a bar touches, and the one after the last. */
function reachOf({ start, end }: Bar, window: TimeWindow): [number, number] {
  const { from, to, columns } = window
  if (start >= to || (end !== null && end <= from)) return [0, 0]
  const first = Math.max(0, columnOf(start, window))
  const touched = end === null || end >= to ? columns : Math.ceil(((end - from) / (to - from)) * columns)
  return [first, Math.max(first + 1, touched)]
}

function across(bars: readonly Bar[], background: Background): Piece[] {
  const runs = runsIn(cellsOf(bars, background.window))
  const labelled = labelledIn(runs)
  return runs.flatMap((run, place): Piece[] => {
    const { cell, first, after } = run
    if (cell === null) return empty(first, after, background)
    if (cell === 'several') return [{ text: background.signs.several, look: null }]
    const before = runs[place - 1]?.cell ?? null
    return [
      {
        text: filled(run, { cell, isLabelled: labelled.has(run), hasSeam: before !== null }, background),
        look: cell.look,
      },
    ]
  })
}

interface Run {
  cell: Cell
  first: number
  after: number
}

function runsIn(cells: readonly Cell[]): Run[] {
  const runs: Run[] = []
  for (const [at, cell] of cells.entries()) {
    const last = runs.at(-1)
    if (last && last.cell === cell && cell !== 'several') last.after = at + 1
    else runs.push({ cell, first: at, after: at + 1 })
  }
  return runs
}

/** A bar that others cover in the middle has its label on its longest part. */
function labelledIn(runs: readonly Run[]): ReadonlySet<Run> {
  const parts = Map.groupBy(runs, ({ cell }) => cell)
  const lengthOf = ({ first, after }: Run) => after - first
  return new Set([...parts.values()].map(of => of.reduce((most, run) => (lengthOf(run) > lengthOf(most) ? run : most))))
}

/** One sign of the fill, the label, and the fill to the end; what has no end fades. */
function filled(
  { first, after }: Run,
  { cell, isLabelled, hasSeam }: { cell: Bar; isLabelled: boolean; hasSeam: boolean },
  { window, signs }: Background,
): string {
  const length = after - first
  const fill = signs.fill[cell.look]
  const fade = cell.end === null && after === window.columns && length > FADE ? signs.fade[cell.look] : ''
  const begin = hasSeam && length > 1 ? signs.seam : fill
  const room = length - 1 - fade.length
  const label = isLabelled ? labelIn(cell.label, room, signs.cut) : ''
  return begin + label + fill.repeat(room - widthOf(label)) + fade
}

function labelIn(label: string, room: number, cut: string): string {
  if (widthOf(label) <= room) return label
  return room < LABEL_MIN ? '' : cutTo(label, room - 1) + cut
}

function empty(first: number, after: number, { signs, ticks, now }: Background): Piece[] {
  const pieces: Piece[] = []
  const add = (text: string, look: Piece['look']) => {
    const last = pieces.at(-1)
    if (last?.look === look) last.text += text
    else pieces.push({ text, look })
  }
  for (let at = first; at < after; at++) {
    if (at === now) add(signs.now, 'now')
    else add(ticks.has(at) ? signs.grid : ' ', 'grid')
  }
  return pieces
}

/** Names differ at their end as often as at their beginning, so they lose their middle. */
function shortened(name: string, width: number, cut: string): string {
  if (widthOf(name) <= width) return name
  if (width < 3) return cutTo(name, Math.max(width, 0))
  const begin = cutTo(name, Math.floor((width - 1) / 2))
  let end = ''
  for (const character of Array.from(name).toReversed()) {
    if (widthOf(begin) + 1 + widthOf(character + end) > width) break
    end = character + end
  }
  return begin + cut + end
}

const padded = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - widthOf(text)))
