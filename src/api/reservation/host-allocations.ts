// /v1/os-hosts/allocations and /v1/os-hosts/{id}/allocation
import { findHost, hostAllocations } from '../../leases/pool/hosts.ts'
import type { HostAllocation } from '../../leases/types.ts'
import type { Form, Operation } from '../operation.ts'
import { named, Text } from '../shapes.ts'
import { ShownDate, shownDate } from './dates.ts'
import type { Answer, ReservationRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const shownAllocation = ({ host, reservations }: HostAllocation) => ({
  resource_id: host,
  reservations: reservations.map(({ id, lease_id, start_at, end_at }) => ({
    id,
    lease_id,
    start_date: shownDate(start_at),
    end_date: shownDate(end_at),
  })),
})

const PARAMETERS: Form = {
  schema: Type.Object({ lease_id: Type.Optional(Text), reservation_id: Type.Optional(Text) }),
}
const Shown = named('HostAllocation', {
  resource_id: Text,
  reservations: Type.Array(Type.Object({ id: Text, lease_id: Text, start_date: ShownDate, end_date: ShownDate })),
})

function filterOf(request: ReservationRequest) {
  const [lease, reservation] = [request.parameter('lease_id'), request.parameter('reservation_id')]
  return { ...(lease !== null && { lease }), ...(reservation !== null && { reservation }) }
}

listAllocations.operation = {
  summary: 'List the bookings of all hosts',
  query: [PARAMETERS],
  answers: { 200: Type.Object({ allocations: Type.Array(Shown) }) },
} satisfies Operation

export async function listAllocations(request: ReservationRequest): Promise<Answer> {
  const { context, now } = request
  const found = await context.store.read(() => hostAllocations(filterOf(request), now))
  return { status: 200, body: { allocations: found.map(shownAllocation) } }
}

showAllocation.operation = {
  summary: 'List the bookings of a host',
  query: [PARAMETERS],
  answers: { 200: Type.Object({ allocation: Shown }) },
} satisfies Operation

export async function showAllocation(request: ReservationRequest): Promise<Answer> {
  const { context, now } = request
  const found = await context.store.read(function* () {
    const host = (yield* findHost(request.param('id'))).id
    const [allocation] = yield* hostAllocations({ ...filterOf(request), host }, now)
    return allocation ?? { host, reservations: [] }
  })
  return { status: 200, body: { allocation: shownAllocation(found) } }
}
