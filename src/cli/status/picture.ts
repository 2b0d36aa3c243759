// The status as a terminal shows it: the answer first, counts, machines, then who waits.
import type { Status } from '../../client/index.ts'
import type { Around } from '../../shared/when.ts'
import { visible } from '../output.ts'
import { type Screen, tableOf, wrapped } from '../table.ts'
import {
  type Asked,
  classCells,
  GAVE_UP_COLUMNS,
  inOrder,
  MACHINE_COLUMNS,
  machineCells,
  sentenceOf,
  setupHint,
  WAITING_COLUMNS,
  waitingCells,
} from './words.ts'

export function pictureOf(status: Status, asked: Asked, around: Around, screen: Screen): string {
  const { machines } = status
  // Who asks for machines in one state doesn't ask who waits.
  const waiting = asked.state === undefined ? status.waiting : []
  const classes = classCells(machines, around)
  const waits = waiting.filter(({ state }) => state === 'waiting').toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
  const gaveUp = waiting.filter(({ state }) => state !== 'waiting')
  const rowsOf = (some: typeof waiting) => some.map(one => waitingCells(one, status, around))
  const isGrouped = classes.rows.length > 1 && asked.state === undefined
  const hint = setupHint(machines)
  const parts = [
    said(sentenceOf(status, asked, around), screen),
    isGrouped && table(classes.columns, classes.rows, screen),
    machines.length > 0 &&
      table(
        MACHINE_COLUMNS,
        inOrder(machines).map(machine => machineCells(machine, around)),
        screen,
      ),
    hint !== null && said(hint, screen),
    waits.length > 0 &&
      said(waits.length === 1 ? '1 waits:' : `${waits.length} wait:`, screen) +
        table(WAITING_COLUMNS, rowsOf(waits), screen),
    gaveUp.length > 0 &&
      said(`${gaveUp.length} got no machine (holdfast allocation explain NAME says why):`, screen) +
        table(GAVE_UP_COLUMNS, rowsOf(gaveUp), screen),
  ]
  return parts.filter(part => part !== false).join('\n')
}

const said = (sentence: string, { width }: Screen) =>
  wrapped(visible(sentence), width)
    .map(line => `${line}\n`)
    .join('')

/** Without the columns in which nothing is said of anything. */
function table(all: readonly string[], rows: readonly Record<string, string | null>[], screen: Screen): string {
  const columns = all.filter(column => rows.some(row => (row[column] ?? null) !== null))
  return tableOf(
    columns,
    rows.map(row => columns.map(column => visible(row[column] ?? '-'))),
    screen,
  )
}
