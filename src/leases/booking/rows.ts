// Writes bookings: those of a lease are replaced as a whole. Every change happens under the lock of the host or node
// and raises its version.
import { promiseNode } from '../../metal/nodes/lease-promise.ts'
import { type JsonText, jsonText } from '../../shared/json.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import type { Extras } from '../../store/schema/leases.ts'
import { bulk, type Command, command, query } from '../../store/statement.ts'
import { all, later, run, type Write } from '../../store/transaction.ts'
import { amountIn, type Booked, type Leasable, wholePeakOf, withMore } from '../calendar/calendar.ts'
import { type BookingRow, NO_LEASE, noteLeasable, type RevisedLeasable } from '../calendar/resources.ts'

interface Ceiling {
  id: ProviderId
  vcpus: number
  memory_mb: number
  disk_gb: number
  extras: JsonText<Extras> | null
}
const CEILING = { id: 'bigint', vcpus: 'bigint', memory_mb: 'bigint', disk_gb: 'bigint', extras: 'text' } as const
const raiseVersions = bulk<Ceiling>(CEILING, (db, r, on) =>
  on.update(db.updateTable('leasables'), 'leasables.provider_id', r.id).set(e => ({
    version: e('leasables.version', '+', 1),
    vcpus_ceiling: r.vcpus,
    memory_mb_ceiling: r.memory_mb,
    disk_gb_ceiling: r.disk_gb,
    extras_ceiling: r.extras,
  })),
)
const setCeilings = bulk<Ceiling>(CEILING, (db, r, on) =>
  on.update(db.updateTable('leasables'), 'leasables.provider_id', r.id).set({
    vcpus_ceiling: r.vcpus,
    memory_mb_ceiling: r.memory_mb,
    disk_gb_ceiling: r.disk_gb,
    extras_ceiling: r.extras,
  }),
)
const BOOKING = {
  reservation_id: 'text',
  provider_id: 'bigint',
  lease_id: 'text',
  slots: 'bigint',
  is_whole: 'bigint',
  vcpus: 'bigint',
  memory_mb: 'bigint',
  disk_gb: 'bigint',
  start_at: 'bigint',
  end_at: 'bigint',
  free_at: 'bigint',
  allocation: 'text',
  extras: 'text',
} as const
const addBookings = bulk<BookingRow>(BOOKING, (db, r, on) => on.insert(db.insertInto('bookings'), { ...r }))
const removeBookings = command((db, a: { reservations: readonly string[]; providers: readonly ProviderId[] }, on) =>
  db
    .deleteFrom('bookings')
    .where(on.isIn('reservation_id', a.reservations))
    .where(on.isIn('provider_id', a.providers, 'bigint')),
)
const givenNodes = query((db, a: { reservations: readonly string[] }, on) =>
  db
    .selectFrom('bookings')
    .select(['reservation_id', 'provider_id', 'allocation'])
    .where(on.isIn('reservation_id', a.reservations))
    .where('allocation', 'is not', null),
)

/**
 * Replaces the lease's bookings on the locked leasables; it must have none on others. `first` are commands that have to
 * run before, in the same round trip.
 */
export function replaceBookings(
  held: readonly RevisedLeasable[],
  lease: string,
  wanted: ReadonlyMap<ProviderId, readonly Booked[]>,
  first: readonly Command[] = [],
): Write<void> {
  return replace(held, booked => booked.lease === lease, wanted, first)
}

/** Does the same for one reservation of a lease. */
export function replaceBookingsOf(
  held: readonly RevisedLeasable[],
  reservation: string,
  wanted: ReadonlyMap<ProviderId, readonly Booked[]>,
): Write<void> {
  return replace(held, booked => booked.reservation === reservation, wanted)
}

function* replace(
  held: readonly RevisedLeasable[],
  isOwn: (booked: Booked) => boolean,
  wanted: ReadonlyMap<ProviderId, readonly Booked[]>,
  first: readonly Command[] = [],
): Write<void> {
  const touched = held.filter(({ id, booked }) => wanted.has(id) || booked.some(isOwn))
  const reservations = [...new Set(touched.flatMap(({ booked }) => booked.filter(isOwn)).map(one => one.reservation))]
  const given = touched.some(({ nodeId }) => nodeId !== null) ? yield* all(givenNodes({ reservations })) : []
  // A node that was given to the lease keeps its allocation, even if the dates change.
  const withAllocation = (provider: ProviderId, one: Booked): Booked => ({
    ...one,
    allocation:
      given.find(row => row.provider_id === provider && row.reservation_id === one.reservation)?.allocation ?? null,
  })
  const after = touched.map(one => ({
    ...one,
    version: one.version + 1,
    booked: withMore(
      without(one, isOwn),
      (wanted.get(one.id) ?? []).map(booked => withAllocation(one.id, booked)),
    ),
  }))
  // Where the capacity was lowered, the ceiling is the peak of the present bookings. The schema refuses anything above.
  const ceilings = touched.map((one, index) => ceilingOf(one, after[index]!.booked))
  const added = after.flatMap(({ id, booked }) => booked.filter(isOwn).map(one => rowOf(id, one)))
  const providers = touched.map(({ id }) => id)
  yield* later([
    ...first,
    ...(reservations.length > 0 ? [removeBookings({ reservations, providers })] : []),
    ...(touched.length > 0 ? [raiseVersions({ rows: ceilings })] : []),
    ...(added.length > 0 ? [addBookings({ rows: added })] : []),
  ])
  for (const leasable of after) {
    yield* noteLeasable(leasable.id, leasable)
    if (leasable.nodeId !== null) yield* promiseNode(leasable.nodeId, { leasable: 1, pledged_at: firstOf(leasable) })
  }
}

/** The same list if there is nothing to leave out: its peak may be known. */
const without = ({ booked }: Leasable, isOwn: (booked: Booked) => boolean): Pick<Leasable, 'booked'> =>
  booked.some(isOwn) ? { booked: booked.filter(one => !isOwn(one)) } : { booked }

/** When its first lease starts. */
function firstOf({ booked }: Leasable): number | null {
  const starts = booked.filter(({ lease }) => lease !== NO_LEASE).map(({ start }) => start)
  return starts.length === 0 ? null : Math.min(...starts)
}

/** Lowers the ceilings of hosts that have less than before to what is booked now. */
export function* lowerCeilings(held: readonly Leasable[]): Write<void> {
  yield* run(setCeilings({ rows: held.map(one => ceilingOf(one, one.booked)) }))
}

/** `after` are the bookings that there will be. The classes that they take have a ceiling too. */
function ceilingOf(leasable: Leasable, after: readonly Booked[]): Ceiling {
  const { id, capacity } = leasable
  const peak = wholePeakOf(leasable)
  const widest = (name: string) => Math.max(amountIn(capacity, name), amountIn(peak, name), 0)
  const classes = new Set(after.flatMap(({ extras }) => (extras ? Object.keys(extras) : [])))
  return {
    id,
    vcpus: widest('vcpus'),
    memory_mb: widest('memory_mb'),
    disk_gb: widest('disk_gb'),
    extras: classes.size === 0 ? null : jsonText(Object.fromEntries([...classes].map(name => [name, widest(name)]))),
  }
}

const rowOf = (provider_id: ProviderId, booked: Booked): BookingRow => ({
  reservation_id: booked.reservation,
  provider_id,
  lease_id: booked.lease,
  slots: booked.slots,
  is_whole: booked.isWhole ? 1 : 0,
  vcpus: booked.vcpus,
  memory_mb: booked.memory_mb,
  disk_gb: booked.disk_gb,
  start_at: booked.start,
  end_at: booked.end,
  free_at: booked.free,
  allocation: booked.allocation ?? null,
  extras: booked.extras ? jsonText(booked.extras) : null,
})
