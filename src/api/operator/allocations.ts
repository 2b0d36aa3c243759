// Allocations beyond what bare metal's API knows: why one found no node, and trying again.
import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { retryAllocation } from '../../metal/allocation-life.ts'
import { type Allocation, findAllocation, wishOf } from '../../metal/allocations.ts'
import { heldNodes } from '../../metal/holds.ts'
import { whyNot } from '../../metal/why-not.ts'
import { AllocationShape, routingOf, shownAllocation } from '../baremetal/allocations.ts'
import { isTime, membersIn, membersOf } from '../baremetal/collection.ts'
import type { MetalRequest } from '../baremetal/request.ts'
import { futureInstant } from '../instants.ts'
import type { Operation } from '../operation.ts'
import { Count, named, orNull, Text, TextOrNull } from '../shapes.ts'

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
    }),
  },
} satisfies Operation

/** `decided` is what was found when it was decided, `now` what would be found at this moment. */
export async function explainAllocation(request: MetalRequest): Promise<object> {
  const { context, base, has, now } = request
  const { row, held } = await context.store.read(function* () {
    return { row: yield* findAllocation(request.param('ident'), request.access()), held: yield* heldNodes(now) }
  })
  return {
    allocation: shownAllocation(row, base, has),
    state: row.state,
    decided: row.reasons === null ? null : (JSON.parse(row.reasons) as object),
    now: reasonsNow(context, row, held, now),
  }
}

function reasonsNow({ fleet, mirror }: Context, row: Allocation, held: Set<number>, now: number) {
  return whyNot({ fleet, table: mirror.table }, wishOf(row), held, now)
}

postRetry.operation = {
  summary: 'Look for a node once more',
  body: [RETRY],
  bodyIsOptional: true,
  answers: { 202: AllocationShape },
} satisfies Operation

export async function postRetry(request: MetalRequest): Promise<object> {
  const { context, base, has, now } = request
  const body = request.hasBody ? membersIn(request, RETRY) : {}
  const waitUntil = body['wait_until'] === undefined ? null : futureInstant('wait_until', body['wait_until'], now)
  const routing = routingOf(request)
  const row = await context.store.write(() =>
    retryAllocation(request.param('ident'), request.access(), waitUntil, routing, now),
  )
  context.bell.ring('allocations')
  return shownAllocation(row, base, has)
}
