// Changes and ends allocations. One that its keeper uses ends when the keeper lets go, or when its time is over.
import { limits } from '../../shared/limits.ts'
import type { Write } from '../../store/transaction.ts'
import type { Access } from '../../metal/access.ts'
import * as ending from '../../metal/allocations/ending.ts'
import type { Farewell } from '../../metal/allocations/keeping.ts'
import * as life from '../../metal/allocations/lifecycle.ts'
import type { Allocation } from '../../metal/allocations/rows.ts'
import type { Json } from '../../metal/drivers/port.ts'
import type { Drivers } from '../../metal/drivers/registry.ts'
import { applyPatches, parsePatches } from '../../metal/json-patch.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn, MEMBERS } from '../../shared/json.ts'
import { futureInstant } from '../instants.ts'
import type { Operation } from '../operation.ts'
import { Flag, from, Text } from '../shapes.ts'
import { isName, isNote } from './allocation-checks.ts'
import { AllocationShape, refuse, requireMember, shownAllocation } from './allocations.ts'
import { asText, isDocument, isTime, members, PATCH, notPatched } from './collection.ts'
import { nodeIdent } from './nodes.ts'
import { type Answer, flagParameter, type MetalRequest, parametersOf } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

const PATCHABLE = new Set(['name', 'extra', 'expires_at', 'planned_end', 'wait_until', 'note'])

export const KEEPER_PARAMETER = parametersOf({ keeper: from(since('allocationKeeper'), Text) })

patchOneAllocation.operation = {
  summary: 'Change the name, the extra, the note, the end, the planned end or the wait of an allocation',
  description:
    'Only the keeper of an allocation may shorten it. Nobody may extend one that someone else is ending. ' +
    '`wait_until` can be changed while the allocation waits; it keeps its place.',
  query: [KEEPER_PARAMETER],
  body: [PATCH],
  answers: { 200: AllocationShape },
} satisfies Operation

export async function patchOneAllocation(request: MetalRequest): Promise<Answer> {
  const { context, has } = request
  if (!has.allocationPatch) throw problem('method_not_allowed', {})
  const change = allocationChangeOf(request)
  const row = await context.store.write(change)
  return { status: 200, body: shownAllocation(row, request) }
}

/** The change that the body asks for, to be run. */
export function allocationChangeOf(request: MetalRequest): () => Write<Allocation> {
  const { now } = request
  const keeper = givenParameter(request, 'keeper')
  const patches = parsePatches(request.json(PATCH))
  for (const { path } of patches) {
    if (!PATCHABLE.has(path[0])) {
      throw refuse(notPatched(path, [...PATCHABLE]))
    }
    requireMember(request, path[0])
  }
  const isGiven = (field: string) => patches.some(({ path }) => path[0] === field)
  const change = (present: Allocation): life.AllocationPatch => {
    const { extra, note } = present
    const document = {
      // A name that was taken before names were checked stays, as long as nobody changes it.
      name: null,
      extra: jsonIn(extra, MEMBERS),
      note,
      expires_at: null,
      planned_end: null,
      wait_until: null,
    }
    const after = members(applyPatches(document, patches), {
      checks: {
        name: isName,
        extra: isDocument,
        note: isNote,
        expires_at: isTime,
        planned_end: isTime,
        wait_until: isTime,
      },
    })
    const time = (name: 'expires_at' | 'planned_end' | 'wait_until') => {
      const value = after[name]
      if (!isGiven(name)) return present[name]
      return value === undefined ? null : futureInstant(name, value, now)
    }
    const waitUntil = (until: number | null) => {
      if (until === null && isGiven('wait_until')) throw refuse('wait_until can be moved, but not removed.')
      return until
    }
    return {
      name: isGiven('name') ? asText(after['name']) : present.name,
      extra: (after['extra'] as Json | undefined) ?? {},
      expiresAt: time('expires_at'),
      plannedEnd: time('planned_end'),
      waitUntil: waitUntil(time('wait_until')),
      note: asText(after['note']),
      keeper,
    }
  }
  return () => life.patchAllocation(request.param('ident'), request.access(), change, now)
}

/** One line on the terminal of whoever is asked to leave. */
const MESSAGE = new RegExp(`^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]{0,${limits.keeperMessageMax}}$`)

export const FAREWELL_PARAMETERS = parametersOf({
  keeper: from(since('allocationKeeper'), Text),
  now: from(since('allocationKeeper'), Flag),
  message: from(since('allocationKeeper'), Type.String({ pattern: MESSAGE.source })),
})

/** Our parameters of requests that ignore all others, as those of OpenStack do. */
function givenParameter(request: MetalRequest, name: string): string | null {
  const value = request.parameter(name)
  if (value !== null) request.require('allocationKeeper', `The parameter ${name}`)
  return value
}

export function farewellOf(request: MetalRequest): Farewell {
  const [keeper, now, message] = ['keeper', 'now', 'message'].map(name => givenParameter(request, name)) as [
    string | null,
    string | null,
    string | null,
  ]
  if (message !== null && !MESSAGE.test(message))
    throw refuse(`Invalid value for message: one line of at most ${limits.keeperMessageMax} characters.`)
  const { user, userName } = request.caller
  return { by: userName ?? user, message, keeper, isNow: now !== null && flagParameter('now', now) }
}

/** Who takes a node at once needs that permission too. */
export const accessToEnd = (request: MetalRequest, { isNow }: Farewell): Access =>
  request.access(['baremetal:allocation:delete', ...(isNow ? (['baremetal:allocation:delete_now'] as const) : [])])

const DELETION = {
  description:
    'A kept allocation is not over yet (202): its keeper is asked to let go, and has the node until `expires_at` at ' +
    'the longest. `keeper` says that the keeper lets go. `now` takes the node at once, though the keeper may be using it.',
  query: [FAREWELL_PARAMETERS],
  answers: { 202: AllocationShape, 204: null },
}

type End = (access: Access, farewell: Farewell, drivers: Drivers, now: number) => Write<Allocation | null>

async function endedBy(request: MetalRequest, end: End): Promise<Answer> {
  const { context, now } = request
  const farewell = farewellOf(request)
  const access = accessToEnd(request, farewell)
  const asked = await context.store.write(() => end(access, farewell, context.drivers, now))
  return asked === null ? { status: 204 } : { status: 202, body: shownAllocation(asked, request) }
}

deleteOneAllocation.operation = {
  summary: 'Delete an allocation and free its node',
  ...DELETION,
} satisfies Operation

export function deleteOneAllocation(request: MetalRequest): Promise<Answer> {
  return endedBy(request, (...farewell) => ending.deleteAllocation(request.param('ident'), ...farewell))
}

deleteAllocationOfNode.operation = {
  summary: 'Delete the allocation that has a node',
  ...DELETION,
} satisfies Operation

export function deleteAllocationOfNode(request: MetalRequest): Promise<Answer> {
  return endedBy(request, (...farewell) => ending.deleteAllocationOfNode(nodeIdent(request), ...farewell))
}
