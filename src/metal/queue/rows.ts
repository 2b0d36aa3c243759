// What the line is made from: who waits, who has which node until when, and what is booked.
import { query } from '../../store/statement.ts'
import { type Read, together } from '../../store/transaction.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { waitingAllocations } from '../allocations/at-work.ts'
import type { Supply } from '../allocations/matching.ts'
import { type AllocationRow, wishesOf } from '../allocations/rows.ts'
import type { Fleet } from '../nodes/fleet.ts'
import { type Ahead, type Booked, lineOf, type Occupant, type PlaceInLine } from './line.ts'
import type { QueueRules, Standings } from './order.ts'
import { standingsNow } from './standings.ts'

const allocationsWithNode = query((db, _: object) =>
  db
    .selectFrom('allocations')
    .select(['node_id', 'uuid', 'name', 'owner', 'user_id', 'expires_at', 'planned_end', 'keeper', 'ending_at'])
    .where('node_id', 'is not', null),
)
const holdsNow = query((db, a: { now: number }) =>
  db.selectFrom('reservations').select(['node_id', 'owner', 'expires_at']).where('expires_at', '>', a.now),
)
const bookingsAhead = query((db, a: { now: number }) =>
  db
    .selectFrom('bookings')
    .select(['provider_id', 'start_at', 'free_at', 'allocation'])
    .where('free_at', '>', a.now)
    .orderBy('start_at'),
)

/** Who has a node. */
export interface Holder extends Occupant {
  /** The project that may see it; null for none but admins. */
  owner: string | null
  /** Of an allocation. */
  allocation: { uuid: string; name: string | null; user: string } | null
}

export interface QueueNow {
  waiting: AllocationRow[]
  standings: Standings
  holders: ReadonlyMap<NodeId, Holder>
  booked: Ahead['booked']
}

/** The fleet tells which nodes the bookings are of. */
export function* queueNow(fleet: Fleet, now: number): Read<QueueNow> {
  const waiting = yield* waitingAllocations()
  const standings = yield* standingsNow()
  const [allocations, holds, bookings] = yield* together(
    allocationsWithNode({}),
    holdsNow({ now }),
    bookingsAhead({ now }),
  )
  const ofLease = new Map(bookings.flatMap(({ allocation, free_at }) => (allocation ? [[allocation, free_at]] : [])))
  const holders = new Map<NodeId, Holder>()
  for (const { node_id, owner, expires_at } of holds) {
    holders.set(node_id, { what: 'hold', end: expires_at, owner, allocation: null })
  }
  for (const row of allocations) {
    const { node_id, uuid, name, owner, user_id: user } = row
    const lease = ofLease.get(uuid)
    const occupant: Occupant =
      lease === undefined ? { what: 'allocation', end: likelyEnd(row) } : { what: 'lease', end: lease }
    holders.set(node_id!, { ...occupant, owner, allocation: { uuid, name, user } })
  }
  const booked = new Map<NodeId, Booked[]>()
  for (const { provider_id, start_at, free_at } of bookings) {
    const node = fleet.ofProvider(provider_id)
    if (node) booked.getOrInsertComputed(node.id, () => []).push({ start: start_at, free: free_at })
  }
  return { waiting, standings, holders, booked }
}

/** A kept one is renewed again and again, so its `expires_at` tells nothing until someone ends it. */
export const likelyEnd = (
  row: Pick<AllocationRow, 'keeper' | 'ending_at' | 'planned_end' | 'expires_at'>,
): number | null => (row.keeper !== null && row.ending_at === null ? row.planned_end : row.expires_at)

/** The places of all who wait, in serving order. */
export const lineNow = (
  { waiting, standings, holders, booked }: QueueNow,
  rules: QueueRules,
  supply: Supply,
  now: number,
): PlaceInLine[] => lineOf(wishesOf(waiting), standings, rules, supply, { occupants: holders, booked }, now)
