// Allocations beyond what bare metal's API knows: why one found no node, and trying again.
import type { Context } from '../../context.ts'
import { retryAllocation } from '../../metal/allocation-life.ts'
import { type Allocation, findAllocation, wishOf } from '../../metal/allocations.ts'
import { heldNodes } from '../../metal/holds.ts'
import { whyNot } from '../../metal/why-not.ts'
import { routingOf, shownAllocation } from '../baremetal/allocations.ts'
import { members } from '../baremetal/collection.ts'
import type { MetalRequest } from '../baremetal/request.ts'
import { futureInstant } from '../instants.ts'

const isTime = (value: unknown) => typeof value === 'string' || typeof value === 'number'

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

export async function postRetry(request: MetalRequest): Promise<object> {
  const { context, base, has, now } = request
  const body = request.hasBody ? members(request.object(), { wait_until: isTime }) : {}
  const waitUntil = body['wait_until'] === undefined ? null : futureInstant('wait_until', body['wait_until'], now)
  const routing = routingOf(request)
  const row = await context.store.write(() =>
    retryAllocation(request.param('ident'), request.access(), waitUntil, routing, now),
  )
  if (routing.isGranted) context.metrics.allocated('active', context.clock.now() - now)
  context.bell.ring('allocations')
  return shownAllocation(row, base, has)
}
