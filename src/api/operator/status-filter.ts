// Which machines, requests and spans a client asks for.
import { instantOf } from '../../clock/instants.ts'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { BoardEntry } from '../../status/table.ts'
import type { MachinePromise } from '../../status/machine.ts'
import type { WaitingPart } from '../../status/rows.ts'
import { isOpenTo, type Sight } from '../../status/shown.ts'
import { WORDS } from '../../status/state.ts'
import { check } from '../schema.ts'
import type { OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Word = Type.Optional(Type.String({ minLength: 1, maxLength: 255 }))

export const parameters = check(
  Type.Object(
    {
      class: Word,
      trait: Word,
      project: Word,
      who: Word,
      rack: Word,
      state: Type.Optional(Type.String({ enum: [...WORDS] })),
      mine: Type.Optional(Type.String({ enum: ['', 'true', 'false'] })),
      spans: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      since: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    },
    { additionalProperties: false },
  ),
)

export interface Window {
  from: number
  to: number
}

export interface StatusFilter {
  /** The cursor of someone who has seen something already. */
  since: string | null
  /** Whether less than all is asked for. */
  isFiltered: boolean
  isMine: boolean
  /** Null when no spans are asked for. */
  window: Window | null
  /** Null when all are wanted. */
  matches: ((entry: BoardEntry, sight: Sight) => boolean) | null
  matchesWaiting: (row: WaitingPart) => boolean
}

const refuse = (reason: string) => problem('invalid_query', { reason })

export function statusFilterOf(request: OperatorRequest): StatusFilter {
  const given = request.checkedQuery(parameters)
  const { names } = request.context
  const idsOf = (kind: 'user' | 'project', word: string | undefined) =>
    word === undefined ? null : new Set([word, ...names.called(kind, word).map(({ id }) => id)])
  const [users, projects] = [idsOf('user', given.who), idsOf('project', given.project)]
  const isOf = ({ user, project }: MachinePromise) =>
    (users === null || users.has(user)) && (projects === null || projects.has(project))
  const tests: ((entry: BoardEntry, sight: Sight) => boolean)[] = []
  if (given.class !== undefined) tests.push(({ row }) => row.source.node.resource_class === given.class)
  if (given.trait !== undefined) tests.push(({ row }) => row.source.traits.includes(given.trait!))
  if (given.rack !== undefined) tests.push(({ row }) => row.source.node.rack === given.rack)
  if (given.state !== undefined) tests.push(({ row }) => row.word === given.state)
  // Who asks for a name must not learn from the answer what the rows hide.
  if (users !== null)
    tests.push(({ row: { promise } }, sight) => !!promise && isOpenTo(promise, sight) && isOf(promise))
  if (projects !== null) {
    tests.push(({ row: { promise, source } }, sight) => {
      const isSeen = (id: string | null) => id !== null && (sight.seesAll || id === sight.project) && projects.has(id)
      const { owner, lessee } = source.node
      return isSeen(owner) || isSeen(lessee) || (!!promise && isOpenTo(promise, sight) && projects.has(promise.project))
    })
  }
  const { spans: _, since, ...filters } = given
  return {
    since: since ?? null,
    isFiltered: Object.keys(filters).length > 0,
    isMine: given.mine !== undefined && given.mine !== 'false',
    window: given.spans === undefined ? null : windowIn(given.spans, request.now),
    matches: tests.length === 0 ? null : (entry, sight) => tests.every(test => test(entry, sight)),
    matchesWaiting: row =>
      (given.class === undefined || row.resource_class === given.class) &&
      (users === null || users.has(row.user_id)) &&
      (projects === null || projects.has(row.project_id)),
  }
}

function windowIn(text: string, now: number): Window {
  const [from, to, ...rest] = text.split('/').map(part => instantOf(part, now))
  if (from === undefined || to === undefined || from === null || to === null || rest.length > 0) {
    throw refuse(
      `spans must be two times with a slash between them, such as 2026-11-16T00:00:00Z/2026-11-30T00:00:00Z.`,
    )
  }
  if (to <= from) throw refuse('spans must end after they begin.')
  if (to - from > limits.statusSpanMsMax) {
    throw refuse(`spans can be asked for of at most ${limits.statusSpanMsMax / 86_400_000} days.`)
  }
  return { from, to }
}

export const isWithin = ({ from, to }: Window, start: number | null, end: number | null): boolean =>
  (start ?? -Infinity) < to && (end ?? Infinity) > from
