// What bare metal's API lacks for allocations: a forecast for a new one, why one found no node, a retry, and keeping what a lease gave.
import { rehearse } from '../../audit/rehearsal.ts'
import type { Context } from '../../process/context.ts'
import { seeded } from '../../clock/chance.ts'
import { waitingAllocations } from '../../metal/allocations/at-work.ts'
import { createAllocation, retryAllocation } from '../../metal/allocations/lifecycle.ts'
import {
  type Allocation,
  type AllocationRequest,
  findAllocation,
  wishOf,
  wishesOf,
} from '../../metal/allocations/rows.ts'
import { keepLeased } from '../../metal/allocations/leased.ts'
import { forecast } from '../../metal/allocations/forecast.ts'
import { type Kept, keptNodes } from '../../metal/holds/lookup.ts'
import { inServingOrder, rulesOf } from '../../metal/queue/order.ts'
import { standingsNow } from '../../metal/queue/standings.ts'
import { whyNot } from '../../metal/allocations/why-not.ts'
import { isKeeper } from '../baremetal/allocation-checks.ts'
import {
  AllocationShape,
  NEW_ALLOCATION,
  newAllocationOf,
  refuse,
  routingOf,
  shownAllocation,
} from '../baremetal/allocations.ts'
import { isTime, membersIn, membersOf } from '../baremetal/collection.ts'
import type { MetalRequest } from '../baremetal/request.ts'
import { futureInstant } from '../instants.ts'
import type { Operation } from '../operation.ts'
import { Count, Flag, named, orNull, Text, TextOrNull } from '../shapes.ts'
import { MEMBERS, shownIn } from '../../shared/json.ts'
import { StandsInLine, standsInLine } from './queue.ts'
import { type Answer, inMetal, type OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const RETRY = membersOf('Retry', { wait_until: isTime })

const Reasons = named('Reasons', {
  at: Text,
  resource_class: TextOrNull,
  considered: Count,
  available: Count,
  causes: Type.Array(
    named('Cause', {
      cause: Text,
      count: Count,
      traits: Type.Optional(Type.Array(Text)),
      sample: Type.Array(Type.Object({ uuid: Text, name: TextOrNull })),
    }),
  ),
  relaxations: Type.Array(
    named('WishRelaxation', {
      without: Type.Object({
        traits: Type.Optional(Type.Array(Text)),
        candidate_nodes: Type.Optional(Type.Literal(true)),
      }),
      nodes: Count,
    }),
  ),
})

explainAllocation.operation = {
  summary: 'Say why an allocation found no node, and what it would find now',
  answers: {
    200: named('AllocationExplained', {
      allocation: AllocationShape,
      state: Text,
      decided: orNull(Reasons),
      now: Reasons,
      // How many wait before it for the same nodes.
      ahead: Count,
      // Null if it doesn't wait.
      queue: orNull(StandsInLine),
    }),
  },
} satisfies Operation

/** `decided` holds the reasons at the time of the decision, `now` those at this moment. While it waits nothing is decided. */
export async function explainAllocation(asked: OperatorRequest): Promise<Answer> {
  const request = inMetal(asked)
  const { context, now } = request
  const { row, kept } = await context.store.read(function* () {
    return {
      row: yield* findAllocation(request.param('ident'), request.access()),
      kept: yield* keptNodes(now),
    }
  })
  const queue = row.state === 'allocating' ? await standsInLine(request, row.uuid) : null
  const decided = row.state === 'allocating' || row.reasons === null ? null : shownIn(row.reasons, MEMBERS)
  const [allocation, reasons] = [shownAllocation(row, request), reasonsNow(context, row, kept, now)]
  return {
    status: 200,
    body: { allocation, state: row.state, decided, now: reasons, ahead: (queue?.place ?? 1) - 1, queue },
  }
}

function reasonsNow({ fleet, mirror }: Context, row: Allocation, kept: Kept, now: number) {
  return whyNot({ fleet, table: mirror.table }, wishOf(row), kept, now)
}

explainNewAllocation.operation = {
  summary: 'Say what would come of an allocation, without making it',
  body: [NEW_ALLOCATION],
  answers: {
    200: named('AllocationForecast', {
      fits: Flag,
      count: Count,
      nodes: Type.Array(Type.Object({ uuid: Text, name: TextOrNull })),
      promised: Count,
      // Left out if the body names a node.
      reasons: Type.Optional(Reasons),
      // Where it would stand if it waited; null if it fits.
      queue: Type.Optional(orNull(StandsInLine)),
    }),
  },
} satisfies Operation

/** Forecasts a new allocation. The body and the refusals are those of a real one. */
export async function explainNewAllocation(asked: OperatorRequest): Promise<Answer> {
  const request = inMetal(asked)
  const { context, now } = request
  const { fleet, mirror, clock, store } = context
  const wanted = newAllocationOf(request)
  if (wanted.node !== null) return { status: 200, body: await explainBackfill(request, wanted) }
  const routing = { ...routingOf(request), attempt: null }
  const { value } = await rehearse(store, () =>
    createAllocation(wanted, request.access(), request.principal, routing, now),
  )
  const { waiting, standings, kept } = await store.read(function* () {
    return { waiting: yield* waitingAllocations(), standings: yield* standingsNow(), kept: yield* keptNodes(now) }
  })
  await context.catchUp()
  const wish = { ...wishOf(value), id: Infinity }
  const line = inServingOrder([...wishesOf(waiting), wish], standings, rulesOf(context.config))
  const before = line.slice(0, line.indexOf(wish))
  const random = seeded(clock.newSeed())
  const told = forecast({ fleet, table: mirror.table }, wish, before, kept, random, now)
  const queue = told.fits ? null : await standsInLine(request, value.uuid, value)
  return { status: 200, body: { ...told, queue } }
}

/** A named node needs no search: it is granted or refused. */
async function explainBackfill(request: MetalRequest, wanted: AllocationRequest): Promise<object> {
  const { context, principal, now } = request
  const { value } = await rehearse(context.store, () =>
    createAllocation(wanted, request.access(), principal, routingOf(request), now),
  )
  const uuid = value.node_uuid!
  return { fits: true, count: 1, nodes: [{ uuid, name: context.fleet.withUuid(uuid)?.name ?? null }], promised: 0 }
}

const KEEP = membersOf('Keep', { keeper: isKeeper, until: isTime, planned_end: isTime })

postKeep.operation = {
  summary: 'Keep the allocation that a lease gave, or keep it longer',
  description:
    'Nobody else gets the node before `until`, unless the keeper lets go: DELETE of the allocation, with `keeper`.',
  body: [KEEP],
  answers: { 200: AllocationShape },
} satisfies Operation

export async function postKeep(asked: OperatorRequest): Promise<Answer> {
  const request = inMetal(asked)
  const { context, now } = request
  const { keeper, until, planned_end } = membersIn(request, KEEP)
  if (typeof keeper !== 'string' || until === undefined) throw refuse('keeper and until are mandatory.')
  const wanted = {
    keeper,
    until: futureInstant('until', until, now),
    plannedEnd: planned_end === undefined ? null : futureInstant('planned_end', planned_end, now),
  }
  const row = await context.store.write(() => keepLeased(request.param('ident'), request.access(), wanted, now))
  return { status: 200, body: shownAllocation(row, request) }
}

postRetry.operation = {
  summary: 'Look for a node once more',
  body: [RETRY],
  bodyIsOptional: true,
  answers: { 202: AllocationShape },
} satisfies Operation

export async function postRetry(asked: OperatorRequest): Promise<Answer> {
  const request = inMetal(asked)
  const { context, now } = request
  const body = request.hasBody ? membersIn(request, RETRY) : {}
  const waitUntil = body['wait_until'] === undefined ? null : futureInstant('wait_until', body['wait_until'], now)
  const routing = routingOf(request)
  const row = await context.store.write(() =>
    retryAllocation(request.param('ident'), request.access(), waitUntil, routing, now),
  )
  if (routing.isGranted) context.metrics.allocated('active', context.clock.now() - now)
  return { status: 202, body: shownAllocation(row, request) }
}
