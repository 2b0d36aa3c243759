// Who waits, and who gave up, as a caller sees it.
import type { PlaceInLine } from '../../metal/queue/line.ts'
import { rulesOf } from '../../metal/queue/order.ts'
import { standingsNow } from '../../metal/queue/standings.ts'
import { limits } from '../../shared/limits.ts'
import type { Board } from '../../status/board.ts'
import { isInLine, placesOf } from '../../status/line.ts'
import type { WaitingPart } from '../../status/rows.ts'
import { isOpenTo, waitingOf } from '../../status/shown.ts'
import type { BoardEntry } from '../../status/table.ts'
import type { Viewpoint } from '../../status/viewpoint.ts'
import type { OperatorRequest } from './request.ts'
import type { StatusFilter } from './status-filter.ts'
import type { StatusRights } from './status-rights.ts'

type Wanted = Pick<StatusFilter, 'isMine' | 'matchesWaiting'>

/** The places in the line, and how they look from each viewpoint. */
interface Line {
  places: Map<string, PlaceInLine>
  looks: WeakMap<Viewpoint, Map<string, string>>
}

/**
 * A list as text: those in line first, by place. Memory has all that the board shows. For those who follow, the places
 * may be up to a second old while the same ones wait.
 */
export async function waitingText(
  request: OperatorRequest,
  rights: StatusRights,
  viewpoint: Viewpoint,
  { isMine, matchesWaiting }: Wanted,
  mayBeOld = false,
): Promise<string> {
  const { board } = request.context
  const isWanted = (row: WaitingPart) =>
    (row.state === 'error' || isInLine(row)) &&
    rights.seesWaiting(row) &&
    matchesWaiting(row) &&
    (!isMine || rights.isMineWaiting(row))
  if (!board.waiting.some(isWanted)) return '[]'
  const line = await lineNow(request, mayBeOld)
  const seen = board.waiting.filter(isWanted)
  const placeOf = ({ uuid }: WaitingPart) => line.places.get(uuid)?.place ?? Infinity
  const inLine = seen.filter(isInLine).sort((a, b) => placeOf(a) - placeOf(b) || a.id - b.id)
  const gaveUp = seen.filter(({ state }) => state === 'error')
  const looks = line.looks.getOrInsertComputed(viewpoint, () => new Map<string, string>())
  const texts = [...inLine.slice(0, limits.statusWaitingMax), ...gaveUp].map(row => {
    const look = looks.getOrInsertComputed(row.uuid, () => lookOf(row, line, board, rights))
    const rest = JSON.stringify({ mine: rights.isMineWaiting(row), may: rights.mayWithWaiting(row) })
    return `${look.slice(0, -1)},${rest.slice(1)}`
  })
  return `[${texts.join()}]`
}

function lookOf(row: WaitingPart, { places }: Line, board: Board, rights: StatusRights): string {
  const machineOf = (uuid: string): BoardEntry | null => {
    const entry = board.entryWith(uuid)
    return entry && rights.relationOf(entry) !== null ? entry : null
  }
  return JSON.stringify(waitingOf(row, shownPlace(places.get(row.uuid), machineOf, rights), board.names))
}

/** Of machines that the caller doesn't see nothing is told. */
function shownPlace(
  found: PlaceInLine | undefined,
  machineOf: (uuid: string) => BoardEntry | null,
  { sight }: StatusRights,
) {
  if (!found) return null
  const { place, of, start, because, suits } = found
  const entry = because && machineOf(because.node)
  const promise = because?.what === 'ahead' ? null : (entry?.row.promise ?? null)
  const what = promise && isOpenTo(promise, sight) ? promise.name : null
  return {
    place,
    of,
    start,
    because: because && entry ? { machine: because.node, what, end: because.end } : null,
    suits: suits
      .values()
      .filter(uuid => machineOf(uuid) !== null)
      .take(limits.statusSuitsMax)
      .toArray(),
  }
}

interface KnownLine extends Line {
  version: number
  waitingVersion: number
  at: number
}
const known = new WeakMap<Board, KnownLine>()

async function lineNow(request: OperatorRequest, mayBeOld: boolean): Promise<Line> {
  const { board, store, config, fleet, mirror } = request.context
  const { now } = request
  const last = known.get(board)
  const isSame = last && last.waitingVersion === board.waitingVersion && (mayBeOld || last.version === board.version)
  if (isSame && Math.abs(now - last.at) < limits.statusLineMs) return last
  const waiting = board.waiting.filter(isInLine)
  const standings = waiting.length === 0 ? null : await store.read(standingsNow)
  const { version, waitingVersion } = board
  const rows = board.entries.map(({ row }) => row)
  const places =
    standings === null
      ? new Map<string, PlaceInLine>()
      : placesOf(rows, board.waiting.filter(isInLine), {
          standings,
          rules: rulesOf(config),
          supply: { fleet, table: mirror.table },
          now,
        })
  const line: KnownLine = { version, waitingVersion, at: now, places, looks: new WeakMap() }
  known.set(board, line)
  return line
}
