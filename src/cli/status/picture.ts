// The status as a terminal shows it: the answer first, counts, machines, then who waits.
import type { Status, Waiting } from '../../client/index.ts'
import { type Around, zoneShown } from '../../shared/when.ts'
import { visible } from '../output.ts'
import { type Folds, type Screen, tableOf, wrapped } from '../table.ts'
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

/** `height` is that of a screen on which the rest can't be seen: if it is too low for all, those who wait come first. */
export function pictureOf(status: Status, asked: Asked, around: Around, screen: Screen, height = Infinity): string {
  const top = summaryOf(status, asked, around, screen)
  const machines = machinesOf(status, around, screen)
  // Who asks for machines in one state doesn't ask who waits.
  const waiting = asked.state === undefined ? waitingOf(status, around, screen) : []
  const picture = joined([...top, ...machines, ...waiting])
  return picture.split('\n').length - 1 <= height ? picture : joined([...top, ...waiting, ...machines])
}

const CLASS_FOLDS: Folds = { below: [['next free']] }
const MACHINE_FOLDS: Folds = {
  above: 'class',
  below: [
    ['next', 'note'],
    ['what', 'next', 'note'],
  ],
}
const WAITING_FOLDS: Folds = {
  below: [
    ['since', 'because', 'reason'],
    ['wants', 'since', 'because', 'reason'],
  ],
}

const joined = (parts: readonly string[]) => parts.join('\n')

function summaryOf(status: Status, asked: Asked, around: Around, screen: Screen): string[] {
  const { columns, rows } = classCells(status.machines, around)
  const isGrouped = rows.length > 1 && asked.state === undefined
  return [
    said(`${sentenceOf(status, asked, around)}${zoneWords(status, around)}`, screen),
    ...(isGrouped ? [table(columns, rows, CLASS_FOLDS, screen)] : []),
  ]
}

/** Said if there are times, and if the zone is another one than that of the formats for programs. */
function zoneWords({ machines, waiting }: Status, { now, zone }: Around): string {
  const hasTimes = waiting.length > 0 || machines.some(({ until, next }) => until !== null || next !== null)
  const name = zoneShown(now, zone)
  return hasTimes && name !== 'UTC' ? ` Times are those of ${name}.` : ''
}

function machinesOf({ machines }: Status, around: Around, screen: Screen): string[] {
  if (machines.length === 0) return []
  const rows = inOrder(machines).map(machine => machineCells(machine, around))
  const hint = setupHint(machines)
  return [table(MACHINE_COLUMNS, rows, MACHINE_FOLDS, screen), ...(hint === null ? [] : [said(hint, screen)])]
}

function waitingOf(status: Status, around: Around, screen: Screen): string[] {
  const { waiting = [], 'gave up': gaveUp = [] } = Object.groupBy(status.waiting, ({ state }) => state)
  const inLine = waiting.toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0))
  const part = (heading: string, columns: readonly string[], some: readonly Waiting[]) =>
    some.length === 0
      ? []
      : [
          said(heading, screen) +
            table(
              columns,
              some.map(one => waitingCells(one, status, around)),
              WAITING_FOLDS,
              screen,
            ),
        ]
  return [
    ...part(inLine.length === 1 ? '1 waits:' : `${inLine.length} wait:`, WAITING_COLUMNS, inLine),
    ...part(`${gaveUp.length} got no machine (holdfast allocation explain NAME says why):`, GAVE_UP_COLUMNS, gaveUp),
  ]
}

const said = (sentence: string, { width }: Screen) =>
  wrapped(visible(sentence), width)
    .map(line => `${line}\n`)
    .join('')

/** Without the columns in which nothing is said of anything. */
function table(
  all: readonly string[],
  rows: readonly Record<string, string | null>[],
  folds: Folds,
  screen: Screen,
): string {
  const columns = all.filter(column => rows.some(row => (row[column] ?? null) !== null))
  const cells = rows.map(row => columns.map(column => visible(row[column] ?? '-')))
  return tableOf(columns, cells, screen, folds)
}
