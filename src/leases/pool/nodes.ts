// Enrols bare metal nodes for leasing and withdraws them. They are booked in the same calendar as hosts.
import { EVERYTHING } from '../../metal/access.ts'
import { dedicateProvider } from '../../ledger/managed.ts'
import { lockProvider } from '../../ledger/providers.ts'
import { findNode, lockNode } from '../../metal/nodes/rows.ts'
import { holderOf } from '../../metal/nodes/provider.ts'
import { promiseNode } from '../../metal/nodes/lease-promise.ts'
import { problem } from '../../problems/problem.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { all, type Read, run, type Write } from '../../store/transaction.ts'
import { OWNER } from '../lifecycle/reservation-resources.ts'
import { leasablesOf, lockLeasables, NO_LEASE, noteLeasable, type RevisedLeasable } from '../calendar/resources.ts'
import { called } from '../../metal/called.ts'

export interface LeasableNode {
  node: string
  resource_class: string | null
  /** The bookings on it, in the order of their starts. */
  bookings: readonly { lease_id: string; reservation_id: string; start_at: number; end_at: number }[]
}

const enrol = command((db, a: { id: ProviderId; name: string; now: number }) =>
  db.insertInto('leasables').values({
    provider_id: a.id,
    kind: 'node',
    name: a.name,
    reservation_provider: null,
    reservable: 1,
    vcpus_ceiling: 0,
    memory_mb_ceiling: 0,
    disk_gb_ceiling: 0,
    created_at: a.now,
    updated_at: null,
  }),
)
const strike = command((db, a: { id: ProviderId }) => db.deleteFrom('leasables').where('provider_id', '=', a.id))
const enrolled = query((db, _: object) =>
  db.selectFrom('leasables').select('provider_id as id').where('kind', '=', 'node').orderBy('provider_id'),
)
/** From now on the calendar gives out the node. Idempotent. */
export function* enrolNode(ident: string, now: number): Write<LeasableNode> {
  const found = yield* findNode(ident, EVERYTHING)
  if ((yield* lockLeasables([found.provider_id])).length > 0) return yield* findLeasableNode(ident)
  const node = yield* lockNode(ident, EVERYTHING)
  const holder = yield* holderOf(node, now)
  if (node.instance_uuid !== null || holder !== null) {
    throw problem('node_refuses', {
      reason: `Node ${called(node)} is in use by ${node.instance_uuid ?? holder} and can be enrolled when it is free.`,
    })
  }
  yield* run(enrol({ id: node.provider_id, name: node.uuid, now }))
  yield* promiseNode(node.id, { leasable: 1, pledged_at: null })
  yield* dedicateProvider(yield* lockProvider(node.uuid), OWNER)
  yield* noteLeasable(node.provider_id, (yield* leasablesOf([node.provider_id]))[0]!)
  return yield* findLeasableNode(node.uuid)
}

export function* withdrawNode(ident: string): Write<void> {
  const node = yield* findNode(ident, EVERYTHING)
  const [leasable] = yield* lockLeasables([node.provider_id])
  if (!leasable) throw notEnrolled(ident)
  const booked = leasable.booked.find(({ lease }) => lease !== NO_LEASE)
  if (booked) {
    throw problem('node_refuses', { reason: `Node ${called(node)} is booked for lease ${booked.lease}.` })
  }
  yield* run(strike({ id: leasable.id }))
  yield* promiseNode(node.id, { leasable: 0, pledged_at: null })
  yield* dedicateProvider(yield* lockProvider(node.uuid), null)
  yield* noteLeasable(leasable.id, null)
}

export function* findLeasableNode(ident: string): Read<LeasableNode> {
  const { provider_id } = yield* findNode(ident, EVERYTHING)
  const [leasable] = yield* leasablesOf([provider_id])
  if (!leasable) throw notEnrolled(ident)
  return shownNode(leasable)
}

export function* listLeasableNodes(): Read<LeasableNode[]> {
  const ids = (yield* all(enrolled({}))).map(({ id }) => id)
  return (yield* leasablesOf(ids)).map(shownNode)
}

const notEnrolled = (name: string) => problem('metal_not_found', { what: 'A node enrolled for leasing,', name })

const shownNode = ({ name, facts, booked }: RevisedLeasable): LeasableNode => ({
  node: name,
  resource_class: (facts('resource_class') as string) || null,
  bookings: booked
    .filter(({ lease }) => lease !== NO_LEASE)
    .map(({ lease, reservation, start, end }) => ({
      lease_id: lease,
      reservation_id: reservation,
      start_at: start,
      end_at: end,
    })),
})
