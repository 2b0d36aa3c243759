// Heals leases of nodes: replaces a node that can't be used, and gives a running lease its missing nodes as soon as
// they are available. A node with the lessee's machine on it stays, even in maintenance, until the lessee or the end
// frees it.
import { recorded } from '../../audit/record.ts'
import type { Witness } from '../../audit/witness.ts'
import { emptyNode } from '../../metal/expiry.ts'
import { lockNodeById } from '../../metal/nodes/rows.ts'
import { MACHINE_STATES } from '../../metal/nodes/states.ts'
import { isReadable, jsonIn } from '../../shared/json.ts'
import { TERMS } from '../../store/schema/json-columns.ts'
import type { Drivers } from '../../metal/drivers/registry.ts'
import type { NodeId, ProviderId } from '../../store/schema/ids.ts'
import { query } from '../../store/statement.ts'
import { all, type Write, wake } from '../../store/transaction.ts'
import { replaceBookingsOf } from '../booking/rows.ts'
import type { Wish } from '../calendar/candidates.ts'
import { type Ailing, best, type Heal, healAll, isSame, type Places, requestFor, total } from './hosts.ts'
import { leasablesOf, lockLeasables, type RevisedLeasable } from '../calendar/resources.ts'
import { type LeaseContext, MINUTE_MS } from '../context.ts'
import { completeNodes, withdrawGiven } from '../lifecycle/reservation-nodes.ts'
import { bookedBy, lockLeases, type StoredLease, withReservation } from '../lifecycle/rows.ts'
import { flagsOf, saveLease, setStatus } from '../lifecycle/writes.ts'
import type { LeaseStatus, NodeTerms, Reservation, Terms } from '../types.ts'
import { bookedFor, wishOf } from '../calendar/wishes.ts'

type Working = Pick<LeaseContext, 'store' | 'clock' | 'log' | 'config' | 'drivers'> & { witness: Witness }

// Leaves out nodes on which the lessee's machine runs: they need no healing, and most nodes are like that.
const suspects = query((db, a: { soon: number }) =>
  db
    .selectFrom('bookings as b')
    .innerJoin('nodes as n', 'n.provider_id', 'b.provider_id')
    .innerJoin('leases as l', 'l.id', 'b.lease_id')
    .innerJoin('lease_reservations as r', 'r.id', 'b.reservation_id')
    .select(['b.lease_id as lease', 'b.reservation_id as reservation', 'b.provider_id as id', 'l.status', 'r.terms'])
    .where('b.start_at', '<=', a.soon)
    .where('l.status', 'in', ['PENDING', 'STARTING', 'ACTIVE'])
    .where(e =>
      e.or([
        e('b.allocation', 'is', null),
        e('n.instance_uuid', 'is', null),
        e('n.instance_uuid', '<>', e.ref('b.allocation')),
        e('n.provision_state', 'not in', MACHINE_STATES),
      ]),
    )
    .orderBy('b.start_at')
    .orderBy('b.reservation_id'),
)
const leftovers = query((db, _: object) =>
  db
    .selectFrom('nodes')
    .select('id')
    .where('leftover', '=', 1)
    .where('maintenance', '=', 0)
    .where('transition', 'is', null)
    .orderBy('id'),
)

/** Tears down machines that nobody owns any more, once their nodes are out of maintenance. */
export async function emptyLeftovers({ store, clock, drivers, witness }: Working): Promise<void> {
  for (const { id } of await store.read(() => all(leftovers({})))) {
    const entry = witness({ action: 'empty_node', outcome: 'accepted' })
    await store.write(() => recorded(emptyLeftover(id), entry))
  }

  function* emptyLeftover(id: NodeId) {
    const node = yield* lockNodeById(id)
    return node?.leftover === 1 ? yield* emptyNode(node, drivers, clock.now()) : 'empty'
  }
}

/** The reservations of nodes that are in use or start soon, and need healing. */
export async function onNodes({ store, clock, config }: Working): Promise<Ailing[]> {
  const now = clock.now()
  const soon = config.leaseHealingMinutes === 0 ? Number.MAX_SAFE_INTEGER : now + config.leaseHealingMinutes * MINUTE_MS
  const { rows, leasables } = await store.read(function* () {
    const rows = yield* all(suspects({ soon }))
    const leasables = yield* leasablesOf([...new Set(rows.map(({ id }) => id))])
    return { rows, leasables: new Map(leasables.map(one => [one.id, one])) }
  })
  const ailing = new Map<string, Ailing & { unusable: Set<ProviderId> }>()
  for (const { lease, reservation, id, status, terms } of rows) {
    if (!isReadable(terms, TERMS)) continue
    const leasable = leasables.get(id)
    const need = leasable && needOf(leasable, reservation, jsonIn(terms, TERMS), status, now)
    if (!need) continue
    const found = ailing.getOrInsertComputed(reservation, () => ({ lease, reservation, unusable: new Set() }))
    if (need === 'exchange') found.unusable.add(id)
  }
  return [...ailing.values()]
}

/** What a booked node needs: another node in its place, or to be given to the lease. */
function needOf(
  leasable: RevisedLeasable,
  reservation: string,
  terms: Terms,
  status: LeaseStatus,
  now: number,
): 'exchange' | 'give' | null {
  const { node, booked, isReservable } = leasable
  const mine = booked.find(one => one.reservation === reservation)
  if (!mine || !node || isInUse(leasable, reservation, now)) return null
  if (!isReservable || !wishOf(terms).accepts(leasable)) return 'exchange'
  if (isGiven(leasable, reservation)) return null
  // The lease should have started, and the previous user has not given the node back.
  if (mine.start <= now && !node.isOpen && !node.isComing) return 'exchange'
  return status === 'ACTIVE' ? 'give' : null
}

function isGiven({ node, booked }: RevisedLeasable, reservation: string): boolean {
  const allocation = booked.find(one => one.reservation === reservation)?.allocation ?? null
  return allocation !== null && node?.instance === allocation
}

const isInUse = (leasable: RevisedLeasable, reservation: string, now: number): boolean =>
  isGiven(leasable, reservation) && (leasable.node!.hasMachine || (leasable.node!.keptUntil ?? 0) > now)

export async function healNodes(context: Working, ailing: readonly Ailing[]): Promise<void> {
  const { drivers, clock } = context
  const giving: Giving = { drivers, newUuid: () => clock.newUuid() }
  await healAll(context, ailing, (...about) => healReservation(giving, ...about))
}

/** What it takes to give a node. */
interface Giving {
  drivers: Drivers
  newUuid: () => string
}

function* healReservation(giving: Giving, ...[ailing, pool, terms]: Parameters<Heal>): ReturnType<Heal> {
  // A lease that waits for its nodes may start now.
  yield* wake('leases')
  const [lease] = yield* lockLeases([ailing.lease])
  const reservation = lease?.reservations.find(({ id }) => id === ailing.reservation)
  if (!lease || !reservation || !['PENDING', 'STARTING', 'ACTIVE'].includes(lease.status)) {
    return { ids: [], isStale: false }
  }
  const has = (yield* bookedBy(lease.id)).get(reservation.id) ?? new Map<ProviderId, number>()
  const planOn = (leasables: readonly RevisedLeasable[]) =>
    plan(leasables, lease, reservation, has, ailing.unusable, terms)
  const proposed = planOn([...pool.values()])
  const held = yield* lockLeasables([...new Set([...proposed.keys(), ...has.keys()])])
  const places = planOn(held)
  const ids = held.map(({ id }) => id)
  if (total(places) < total(proposed) && !terms.isLast) return { ids, isStale: true }
  const usable = places.size
  // Without a replacement it keeps its unusable nodes, because they may recover.
  for (const id of has.keys()) if (places.size < has.size) places.set(id, 1)
  const isMoved = !isSame(places, has)
  const isLost = isMoved && (yield* exchange(lease, reservation, held, places, terms))
  yield* settle(lease, reservation, { isMoved, isLost, usable }, giving, terms.now)
  return { ids, isStale: false, project: lease.project_id }
}

/** The nodes that it keeps, and replacements for the others; never more nodes than it has booked, or its minimum. */
function plan(
  leasables: readonly RevisedLeasable[],
  lease: StoredLease,
  reservation: Reservation,
  has: Places,
  unusable: ReadonlySet<ProviderId>,
  { cleaningMs, now }: Parameters<Heal>[2],
): Places {
  const { accepts } = wishOf(reservation.terms)
  // After the start, a replacement must be available now or soon; otherwise it is no better than the present node.
  const isBetter = ({ id, node }: RevisedLeasable) =>
    has.has(id) || lease.start_at > now || node?.isOpen || node?.isComing
  const isGood = (one: RevisedLeasable) => one.isReservable && !unusable.has(one.id) && accepts(one) && isBetter(one)
  const isKept = (one: RevisedLeasable) => has.has(one.id) && (isGood(one) || isInUse(one, reservation.id, now))
  const usable = leasables.filter(one => isGood(one) || isKept(one))
  const staying = new Map(usable.filter(isKept).map(({ id }) => [id, 1]))
  const request = requestFor(lease, reservation, staying, cleaningMs)
  const [wish] = request.wishes as [Wish & { kind: 'whole' }]
  const most = Math.max(has.size, wish.min)
  // Nodes that are available now come first.
  const inOrder = usable.toSorted((a, b) => Number(b.node?.isOpen) - Number(a.node?.isOpen) || a.id - b.id)
  return best(inOrder, { ...request, wishes: [{ ...wish, max: most }] })
}

/** Moves the bookings to these places. Returns whether the lease lost a node that it had been given. */
function* exchange(
  lease: StoredLease,
  { id, terms }: Reservation,
  held: readonly RevisedLeasable[],
  places: Places,
  { cleaningMs, now }: Parameters<Heal>[2],
): Write<boolean> {
  let isLost = false
  for (const { id: at, nodeId, booked } of held) {
    const allocation = booked.find(one => one.reservation === id)?.allocation ?? null
    if (allocation === null || places.has(at)) continue
    yield* withdrawGiven(nodeId!, allocation, now)
    isLost = true
  }
  const window = { start: lease.start_at, end: lease.end_at, free: lease.end_at + cleaningMs }
  const booking = bookedFor(lease.id, id, terms, window, 1)
  yield* replaceBookingsOf(held, id, new Map([...places.keys()].map(at => [at, [booking]])))
  return isLost
}

/** Gives a running lease its missing nodes, lets a waiting lease try its start again, and saves the result. */
function* settle(
  before: StoredLease,
  reservation: Reservation,
  { isMoved, isLost, usable }: { isMoved: boolean; isLost: boolean; usable: number },
  { drivers, newUuid }: Giving,
  now: number,
): Write<void> {
  const isActive = before.status === 'ACTIVE'
  const { min } = reservation.terms as NodeTerms
  const healed: Reservation = {
    ...reservation,
    missing_resources: usable < min,
    resources_changed: reservation.resources_changed || (isActive && isLost),
  }
  const moved = withReservation(before, healed)
  const after = isActive ? (yield* completeNodes(moved, drivers, newUuid, now)).lease : moved
  if (isMoved || flagsOf(after) !== flagsOf(before)) yield* saveLease(before, { ...after, updated_at: now })
  if (isMoved && before.status === 'STARTING') yield* setStatus(before.id, 'STARTING', now, before.status_reason)
}
