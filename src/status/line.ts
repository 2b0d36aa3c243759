// The line of those who wait, from what the board shows: who has which machine until when, and what is booked.
import type { Supply } from '../metal/allocations/matching.ts'
import { wishesOf } from '../metal/allocations/rows.ts'
import { type Booked, lineOf, type Occupant, type PlaceInLine } from '../metal/queue/line.ts'
import type { QueueRules, Standings } from '../metal/queue/order.ts'
import { likelyEnd } from '../metal/queue/rows.ts'
import type { NodeId } from '../store/schema/ids.ts'
import type { MachineRow } from './machine.ts'
import type { WaitingPart } from './rows.ts'

/** Who waits for a machine. Others are only just being decided. */
export const isInLine = ({ state, wait_until }: WaitingPart): boolean => state === 'allocating' && wait_until !== null

/** The places of all who wait, by the uuid of the request. */
export function placesOf(
  rows: readonly MachineRow[],
  waiting: readonly WaitingPart[],
  { standings, rules, supply, now }: { standings: Standings; rules: QueueRules; supply: Supply; now: number },
): Map<string, PlaceInLine> {
  const occupants = new Map<NodeId, Occupant>()
  const booked = new Map<NodeId, Booked[]>()
  for (const row of rows) {
    const { id } = row.source.node
    const occupant = occupantOf(row)
    if (occupant) occupants.set(id, occupant)
    const ahead = row.source.bookings.filter(({ free_at }) => free_at > now)
    if (ahead.length > 0) {
      booked.set(
        id,
        ahead.map(({ start_at, free_at }) => ({ start: start_at, free: free_at })),
      )
    }
  }
  const line = lineOf(wishesOf(waiting), standings, rules, supply, { occupants, booked }, now)
  return new Map(line.map(place => [place.uuid, place]))
}

/** Nobody knows when an instance or a claim of another service ends. */
function occupantOf({ source: { allocation, bookings }, promise }: MachineRow): Occupant | null {
  if (allocation) {
    const lease = bookings.find(booking => booking.allocation === allocation.uuid)
    return lease ? { what: 'lease', end: lease.free_at } : { what: 'allocation', end: likelyEnd(allocation) }
  }
  return promise?.kind === 'hold' ? { what: 'hold', end: promise.end } : null
}
