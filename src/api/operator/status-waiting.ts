// Who waits, and who gave up, as a caller sees it.
import type { PlaceInLine } from '../../metal/queue/line.ts'
import { rulesOf } from '../../metal/queue/order.ts'
import { standingsNow } from '../../metal/queue/standings.ts'
import type { BoardEntry } from '../../status/board.ts'
import { isInLine, placesOf } from '../../status/line.ts'
import { isOpenTo, waitingOf } from '../../status/shown.ts'
import type { OperatorRequest } from './request.ts'
import type { StatusFilter } from './status-filter.ts'
import type { StatusRights } from './status-rights.ts'

/** Memory has all that the board shows. */
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
  return seen.map(row => ({
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
    suits: suits.filter(uuid => machineOf(uuid) !== null),
  }
}

async function lineNow({ context, now }: OperatorRequest): Promise<Map<string, PlaceInLine>> {
  const { board, store, config, fleet, mirror } = context
  const standings = await store.read(standingsNow)
  const rows = board.entries.map(({ row }) => row)
  const terms = { standings, rules: rulesOf(config), supply: { fleet, table: mirror.table }, now }
  return placesOf(rows, board.waiting.filter(isInLine), terms)
}
