// Who waits, and who gave up, as a caller sees it.
import type { PlaceInLine } from '../../metal/queue/line.ts'
import { rulesOf } from '../../metal/queue/order.ts'
import { standingsNow } from '../../metal/queue/standings.ts'
import { limits } from '../../shared/limits.ts'
import type { Board, BoardEntry } from '../../status/board.ts'
import { isInLine, placesOf } from '../../status/line.ts'
import type { WaitingPart } from '../../status/rows.ts'
import { isOpenTo, waitingOf } from '../../status/shown.ts'
import type { OperatorRequest } from './request.ts'
import type { StatusFilter } from './status-filter.ts'
import type { StatusRights } from './status-rights.ts'

/** Those in line first, by place. Memory has all that the board shows. */
export async function waitingFor(request: OperatorRequest, rights: StatusRights, filter: StatusFilter) {
  const { board } = request.context
  const seen = board.waiting
    .filter(row => row.state === 'error' || isInLine(row))
    .filter(row => rights.seesWaiting(row) && filter.matchesWaiting(row))
    .filter(row => !filter.isMine || rights.isMineWaiting(row))
  const line = seen.some(isInLine) ? await lineNow(request) : new Map<string, PlaceInLine>()
  const machines = new Map(line.size === 0 ? [] : board.entries.map(entry => [entry.row.source.node.uuid, entry]))
  const machineOf = (uuid: string): BoardEntry | null => {
    const entry = machines.get(uuid)
    return entry && rights.relationOf(entry) !== null ? entry : null
  }
  const placeOf = ({ uuid }: WaitingPart) => line.get(uuid)?.place ?? Infinity
  const inLine = seen.filter(isInLine).sort((a, b) => placeOf(a) - placeOf(b) || a.id - b.id)
  const gaveUp = seen.filter(({ state }) => state === 'error')
  return [...inLine.slice(0, limits.statusWaitingMax), ...gaveUp].map(row => ({
    ...waitingOf(row, shownPlace(line.get(row.uuid), machineOf, rights), board.names),
    mine: rights.isMineWaiting(row),
    may: rights.mayWithWaiting(row),
  }))
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

interface KnownLine {
  version: number
  at: number
  places: Map<string, PlaceInLine>
}
const known = new WeakMap<Board, KnownLine>()

async function lineNow({ context, now }: OperatorRequest): Promise<Map<string, PlaceInLine>> {
  const { board, store, config, fleet, mirror } = context
  const last = known.get(board)
  if (last?.version === board.version && Math.abs(now - last.at) < limits.statusLineMs) return last.places
  const standings = await store.read(standingsNow)
  const { version } = board
  const rows = board.entries.map(({ row }) => row)
  const terms = { standings, rules: rulesOf(config), supply: { fleet, table: mirror.table }, now }
  const places = placesOf(rows, board.waiting.filter(isInLine), terms)
  known.set(board, { version, at: now, places })
  return places
}
