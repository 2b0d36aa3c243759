// The parts of the status as texts: machines, and what is promised of them.
import { endOf, textOf } from '../../events/event.ts'
import { isNoone } from '../../status/machine.ts'
import { maintenanceOf, promisesOf, spanOf, timeOf } from '../../status/shown.ts'
import type { BoardEntry } from '../../status/table.ts'
import type { Viewpoint } from '../../status/viewpoint.ts'
import type { OperatorRequest } from './request.ts'
import { isWithin, type StatusFilter, type Window } from './status-filter.ts'
import type { StatusRights } from './status-rights.ts'

export const headOf = ({ now }: OperatorRequest, sequence: number) => ({
  sequence: textOf(endOf(sequence)),
  now: timeOf(now),
})

export function meOf({ caller, context: { names } }: OperatorRequest, rights: StatusRights) {
  const { user, userName, project, projectName, roles } = caller
  return {
    user: isNoone(user) ? null : (userName ?? names.user(user)),
    project: project === null ? null : (projectName ?? names.project(project)),
    roles: [...roles],
    may: rights.mayMake,
  }
}

/** Lists that are JSON already. */
export interface Lists {
  hosts: string
  waiting: string
}

/** An answer in pieces, which requests share: a hundred slow readers of a large fleet cost no memory. */
export function bodyOf(head: object, machines: readonly Buffer[], rest: object, { hosts, waiting }: Lists): Buffer[] {
  const lists = `,"hosts":${hosts},"waiting":${waiting}}`
  return [
    Buffer.from(`${JSON.stringify(head).slice(0, -1)},"machines":[`),
    ...machines,
    Buffer.from(`],${JSON.stringify(rest).slice(1, -1)}${lists}`),
  ]
}

/** The texts of all machines that the caller sees and wants, in pieces, with commas between them. */
export function textsOf(
  request: OperatorRequest,
  rights: StatusRights,
  viewpoint: Viewpoint,
  { matches, isMine }: Pick<StatusFilter, 'matches' | 'isMine'>,
): Buffer[] {
  const { board } = request.context
  const isWhole = matches === null && !isMine
  const isWanted = (entry: BoardEntry, relation: number) =>
    (!isMine || rights.isMine(relation)) && (matches === null || matches(entry, rights.sight))
  const pieces = board.blocks
    .map(block => {
      const make = () => textOfSome(request, rights, viewpoint, block.entries, isWanted)
      return isWhole ? board.textOf(block, viewpoint, rights.key, make) : make()
    })
    .filter(({ length }) => length > 0)
  // Each begins with a comma.
  if (pieces.length > 0) pieces[0] = pieces[0]!.subarray(1)
  return pieces
}

/** Of those that the caller sees, each after a comma. */
export function textOfSome(
  { context: { board } }: OperatorRequest,
  rights: StatusRights,
  viewpoint: Viewpoint,
  entries: readonly BoardEntry[],
  isWanted: (entry: BoardEntry, relation: number) => boolean = () => true,
): Buffer {
  const situation = (place: number) => board.situation(place)
  const pieces: Buffer[] = []
  for (const entry of entries) {
    const relation = rights.relationOf(entry)
    if (relation === null || !isWanted(entry, relation)) continue
    pieces.push(board.lookOf(entry, viewpoint), rights.tailOf(entry, relation, situation))
  }
  return Buffer.concat(pieces)
}

interface Wanted {
  isMine: boolean
  window: Window | null
}

/** What is promised of some machines in a window. */
export function spansOf(
  { context: { board } }: OperatorRequest,
  rights: StatusRights,
  { window, ...filter }: Wanted & Partial<Pick<StatusFilter, 'matches'>>,
  entries: readonly BoardEntry[] = board.entries,
): object[] {
  if (window === null) return []
  return entries.flatMap(entry => {
    const relation = rights.relationOf(entry)
    if (relation === null || !(filter.matches?.(entry, rights.sight) ?? true)) return []
    return spansOn(entry, relation, rights, board.names, { isMine: filter.isMine, window })
  })
}

/** What is promised of a machine in a window. */
export function spansOn(
  { row }: BoardEntry,
  relation: number,
  rights: StatusRights,
  names: Parameters<typeof spanOf>[3],
  { isMine, window }: { isMine: boolean; window: Window },
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
