// Dry runs: the real change is tried and undone, to show its result. The refusals are those of the real change.
import { rehearse } from '../../audit/rehearsal.ts'
import { removeLease } from '../../leases/lifecycle/leases.ts'
import { type Access, EVERYTHING } from '../../metal/access.ts'
import { deleteAllocation } from '../../metal/allocations/ending.ts'
import { deleteNode } from '../../metal/nodes/lifecycle.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import { listPortgroups } from '../../metal/portgroups.ts'
import { listPorts } from '../../metal/ports.ts'
import { createHold } from '../../metal/holds/lifecycle.ts'
import { mark, type Write } from '../../store/transaction.ts'
import {
  accessToEnd,
  allocationChangeOf,
  FAREWELL_PARAMETERS,
  farewellOf,
  KEEPER_PARAMETER,
} from '../baremetal/allocation-changes.ts'
import { AllocationShape, shownAllocation } from '../baremetal/allocations.ts'
import { PATCH } from '../baremetal/collection.ts'
import { NEW_RESERVATION, newReservationOf, OneReservation, shownReservation } from '../baremetal/reservations.ts'
import type { Operation } from '../operation.ts'
import { reservation } from '../reservation/dialect.ts'
import { named, Text } from '../shapes.ts'
import { type Answer, inMetal, type OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

explainNewReservation.operation = {
  summary: 'Say what would come of a reservation, without making it',
  body: [NEW_RESERVATION],
  answers: { 200: OneReservation },
} satisfies Operation

/** Answers with the reservation as it would be. */
export async function explainNewReservation(asked: OperatorRequest): Promise<Answer> {
  const request = inMetal(asked)
  const { context, principal, now } = request
  const wanted = newReservationOf(request)
  const { value } = await rehearse(context.store, () => createHold(wanted, request.access(), principal, now))
  return { status: 200, body: { reservation: shownReservation(value, request) } }
}

explainAllocationChange.operation = {
  summary: 'Say what a change would make of an allocation, without changing it',
  query: [KEEPER_PARAMETER],
  body: [PATCH],
  answers: { 200: AllocationShape },
} satisfies Operation

/** Answers with the allocation as it would be. */
export async function explainAllocationChange(asked: OperatorRequest): Promise<Answer> {
  const request = inMetal(asked)
  const { value } = await rehearse(request.context.store, allocationChangeOf(request))
  return { status: 200, body: shownAllocation(value, request) }
}

const Touched = named('Touched', { objects: Type.Array(Type.Object({ kind: Text, id: Text })) })

export const explainNodeDeletion = (request: OperatorRequest) =>
  touchedBy(request, () => deleteWithParts(request.param('ident'), inMetal(request).access(), request.now))

explainNodeDeletion.operation = {
  summary: 'Say what would go with a node, without deleting it',
  answers: { 200: Touched },
} satisfies Operation

/** The real deletion doesn't report the ports and port groups that go with the node; here they are listed. */
function* deleteWithParts(ident: string, access: Access, now: number): Write<void> {
  const { id } = yield* findNode(ident, access)
  const { view } = EVERYTHING
  for (const { uuid } of yield* listPorts(view, { node: id })) yield* mark({ kind: 'port', id: uuid })
  for (const { uuid } of yield* listPortgroups(view, { node: id })) yield* mark({ kind: 'portgroup', id: uuid })
  yield* deleteNode(ident, access, now)
}

explainAllocationDeletion.operation = {
  summary: 'Say what would go with an allocation, without deleting it',
  query: [FAREWELL_PARAMETERS],
  answers: { 200: Touched },
} satisfies Operation

export function explainAllocationDeletion(request: OperatorRequest): Promise<Answer> {
  const metal = inMetal(request)
  const farewell = farewellOf(metal)
  const access = accessToEnd(metal, farewell)
  const { context, now } = request
  return touchedBy(request, () => deleteAllocation(request.param('ident'), access, farewell, context.drivers, now))
}

explainLeaseDeletion.operation = {
  summary: 'Say what would go with a lease, without deleting it',
  answers: { 200: Touched },
} satisfies Operation

export function explainLeaseDeletion(request: OperatorRequest): Promise<Answer> {
  const { visible } = request.as(reservation)
  return touchedBy(request, () => removeLease(request.param('ident'), visible, request.context, '', request.now))
}

/** Internal objects of the ledger: only callers who see all nodes see them. */
const INSIDE = new Set(['resource_provider', 'resource_class', 'consumer', 'host', 'hypervisor'])

async function touchedBy(request: OperatorRequest, work: () => Write<unknown>): Promise<Answer> {
  const { subjects } = await rehearse(request.context.store, work)
  const seesAll = request.may('baremetal:node:list_all', {})
  const shown = subjects.filter(({ kind }) => seesAll || !INSIDE.has(kind))
  return { status: 200, body: { objects: shown.map(({ kind, id }) => ({ kind, id })) } }
}
