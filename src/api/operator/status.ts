// GET /holdfast/v1/status: who has what, until when, who waits, and what comes. One answer, made from memory.
import { Readable } from 'node:stream'
import { endOf, textOf } from '../../events/event.ts'
import type { BoardEntry, Viewpoint } from '../../status/board.ts'
import { hostsIn, leasesOfHosts } from '../../status/hosts.ts'
import { isNoone } from '../../status/machine.ts'
import { bookingOf, maintenanceOf, promisesOf, spanOf, timeOf } from '../../status/shown.ts'
import type { Operation } from '../operation.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { isWithin, parameters, type StatusFilter, statusFilterOf, type Window } from './status-filter.ts'
import { StatusRights } from './status-rights.ts'
import { StatusShape } from './status-shapes.ts'
import { waitingFor } from './status-waiting.ts'

getStatus.operation = {
  summary: 'Say who has what, until when, who waits, and what comes',
  description:
    'All of it is true up to the place in the log that sequence names: a stream of events after it tells the rest. ' +
    'Names are left out where the caller may not know them, and may lists what the caller may do with each. ' +
    'With spans=FROM/TO it also says what is promised between two times. ' +
    'mine leaves what the caller has; the other parameters filter machines.',
  query: [parameters],
  answers: { 200: StatusShape },
} satisfies Operation

export async function getStatus(request: OperatorRequest): Promise<Answer> {
  const filter = statusFilterOf(request)
  const { board } = request.context
  const rights = new StatusRights(request)
  const sequence = await board.fresh()
  // Memory has caught up with the board, so none of this is older.
  const hosts = rights.seesHosts ? await hostsOf(request, rights) : []
  const waiting = await waitingFor(request, rights, filter)
  const viewpoint = board.viewpoint(rights.sight)
  const machines = textsOf(request, rights, viewpoint, filter)
  const rest = {
    // After the machines, whose texts may bring new ones.
    traits: [...viewpoint.traits.keys()],
    hosts,
    waiting,
    spans: filter.window === null ? [] : spansOf(request, rights, filter, filter.window),
  }
  const head = { ...headOf(request, sequence), me: meOf(request, rights) }
  const body = [
    Buffer.from(`${JSON.stringify(head).slice(0, -1)},"machines":[`),
    ...machines,
    Buffer.from(`],${JSON.stringify(rest).slice(1)}`),
  ]
  // In pieces, which requests share: a hundred slow readers of a large fleet cost no memory.
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  return {
    status: 200,
    body: Readable.from(body),
    headers: { 'cache-control': 'no-store', 'content-length': `${length}` },
  }
}

export const headOf = ({ now }: OperatorRequest, sequence: number) => ({
  sequence: textOf(endOf(sequence)),
  now: timeOf(now),
})

function meOf({ caller, context: { names } }: OperatorRequest, rights: StatusRights) {
  const { user, userName, project, projectName, roles } = caller
  return {
    user: isNoone(user) ? null : (userName ?? names.user(user)),
    project: project === null ? null : (projectName ?? names.project(project)),
    roles: [...roles],
    may: rights.mayMake,
  }
}

/** The texts of the machines that the caller sees, in pieces, with commas between them. */
function textsOf(
  { context: { board } }: OperatorRequest,
  rights: StatusRights,
  viewpoint: Viewpoint,
  filter: StatusFilter,
): Buffer[] {
  const situation = (place: number) => board.situation(place)
  const write = (entries: readonly BoardEntry[]) => {
    const pieces: Buffer[] = []
    for (const entry of entries) {
      const relation = rights.relationOf(entry)
      if (relation === null || !isWanted(entry, relation, rights, filter)) continue
      pieces.push(board.lookOf(entry, viewpoint), rights.tailOf(entry, relation, situation))
    }
    return Buffer.concat(pieces)
  }
  const isWhole = filter.matches === null && !filter.isMine
  const pieces = board.blocks
    .map(block => {
      const make = () => write(block.entries)
      return isWhole ? board.textOf(block, viewpoint, rights.key, make) : make()
    })
    .filter(({ length }) => length > 0)
  // Each begins with a comma.
  if (pieces.length > 0) pieces[0] = pieces[0]!.subarray(1)
  return pieces
}

const isWanted = (entry: BoardEntry, relation: number, rights: StatusRights, { matches, isMine }: StatusFilter) =>
  (!isMine || rights.isMine(relation)) && (matches === null || matches(entry, rights.sight))

function spansOf(
  { context: { board } }: OperatorRequest,
  rights: StatusRights,
  { isMine, matches }: StatusFilter,
  window: Window,
): object[] {
  const spans: object[] = []
  for (const entry of board.entries) {
    const relation = rights.relationOf(entry)
    if (relation === null || !(matches?.(entry, rights.sight) ?? true)) continue
    spans.push(...spansOn(entry, relation, rights, board.names, { isMine, window }))
  }
  return spans
}

interface Wanted {
  isMine: boolean
  window: Window
}

/** What is promised of a machine in a window. */
export function spansOn(
  { row }: BoardEntry,
  relation: number,
  rights: StatusRights,
  names: Parameters<typeof spanOf>[3],
  { isMine, window }: Wanted,
): object[] {
  const { uuid, maintenance } = row.source.node
  const wanted = promisesOf(row).filter(
    promise => isWithin(window, promise.start, promise.end) && (!isMine || rights.isMinePromise(promise)),
  )
  const spans: object[] = wanted.map(promise => ({
    ...spanOf(uuid, promise, rights.sight, names),
    mine: rights.isMinePromise(promise),
    may: rights.mayWithSpan(promise),
  }))
  if (maintenance === 1 && !isMine) {
    const may = rights.mayUse('maintenance', relation) ? ['maintenance'] : []
    spans.push({ ...maintenanceOf(uuid), mine: false, may })
  }
  return spans
}

async function hostsOf({ context, now }: OperatorRequest, { sight }: StatusRights): Promise<object[]> {
  const { board, mirror, calendar, store } = context
  const hosts = hostsIn(mirror.table)
  if (hosts.length === 0) return []
  const leases = await store.read(() => leasesOfHosts(calendar.leasables, now))
  return hosts.map(({ id, ...host }) => {
    const lease = leases.get(id)
    return { ...host, lease: lease ? bookingOf(lease, sight, board.names) : null }
  })
}
