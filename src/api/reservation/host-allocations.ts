// /v1/os-hosts/allocations and /v1/os-hosts/{id}/allocation
import { findHost, hostAllocations } from '../../leases/hosts.ts'
import type { HostAllocation } from '../../leases/types.ts'
import { shownDate } from './dates.ts'
import type { Answer, ReservationRequest } from './request.ts'

const shownAllocation = ({ host, reservations }: HostAllocation) => ({
  resource_id: host,
  reservations: reservations.map(({ id, lease_id, start_at, end_at }) => ({
    id,
    lease_id,
    start_date: shownDate(start_at),
    end_date: shownDate(end_at),
  })),
})

function filterOf(request: ReservationRequest) {
  const [lease, reservation] = [request.parameter('lease_id'), request.parameter('reservation_id')]
  return { ...(lease !== null && { lease }), ...(reservation !== null && { reservation }) }
}

export async function listAllocations(request: ReservationRequest): Promise<Answer> {
  const { context, now } = request
  const found = await context.store.read(() => hostAllocations(filterOf(request), now))
  return { status: 200, body: { allocations: found.map(shownAllocation) } }
}

export async function showAllocation(request: ReservationRequest): Promise<Answer> {
  const { context, now } = request
  const found = await context.store.read(function* () {
    const host = (yield* findHost(request.param('id'))).id
    const [allocation] = yield* hostAllocations({ ...filterOf(request), host }, now)
    return allocation ?? { host, reservations: [] }
  })
  return { status: 200, body: { allocation: shownAllocation(found) } }
}
