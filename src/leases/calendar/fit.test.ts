// Compares `fit` with brute force in small worlds: every assignment is tried, every instant is checked.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { amountIn, type Booked, type Leasable, peakOf, type Size, wholePeakOf, withMore } from './calendar.ts'
import type { Places, Request, Wish } from './candidates.ts'
import { fit } from './fit.ts'
import { asId } from '../../../test/support/ids.ts'

type Id = Leasable['id']

const numRuns = Number(process.env.HOLDFAST_RUNS ?? 1500)
const INSTANTS = [0, 1, 2, 3, 4, 5, 6, 7]

const size = fc.record({
  vcpus: fc.integer({ min: 1, max: 4 }),
  memory_mb: fc.integer({ min: 0, max: 3 }),
  disk_gb: fc.constantFrom(0, 0, 1),
  extras: fc.constantFrom(undefined, undefined, { GPU: 1 }, { GPU: 2, FPGA: 1 }),
})
const window = fc
  .tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 1, max: 3 }))
  .map(([start, length]) => ({ start, free: Math.min(start + length, 8) }))

interface Drawn {
  window: { start: number; free: number }
  size: Size
  slots: number
  isWhole: boolean
  isOwn: boolean
}
const drawn: fc.Arbitrary<Drawn> = fc.record({
  window,
  size,
  slots: fc.integer({ min: 1, max: 3 }),
  isWhole: fc.constantFrom(false, false, false, true),
  isOwn: fc.constantFrom(false, false, false, true),
})

const NOTHING: Size = { vcpus: 0, memory_mb: 0, disk_gb: 0 }
const times = ({ vcpus, memory_mb, disk_gb, extras }: Size, slots: number): Size => ({
  vcpus: vcpus * slots,
  memory_mb: memory_mb * slots,
  disk_gb: disk_gb * slots,
  ...(extras && { extras: Object.fromEntries(Object.entries(extras).map(([name, amount]) => [name, amount * slots])) }),
})

/** Keeps only those drawn bookings that fit, so that no world starts oversold. */
function booked(capacity: Size, drawn: readonly Drawn[]): Booked[] {
  const kept: Booked[] = []
  for (const { window, size, slots, isWhole, isOwn } of drawn) {
    const booking: Booked = {
      ...window,
      end: window.free,
      lease: isOwn ? 'own' : 'other',
      reservation: 'r',
      slots,
      isWhole,
      ...(isWhole ? NOTHING : times(size, slots)),
    }
    if (!isOversold(capacity, [...kept, booking])) kept.push(booking)
  }
  return kept
}

function isOversold(capacity: Size, booked: readonly Booked[]): boolean {
  return INSTANTS.some(instant => {
    const there = booked.filter(({ start, free }) => start <= instant && instant < free)
    const total = (name: 'vcpus' | 'memory_mb' | 'disk_gb') => there.reduce((sum, booking) => sum + booking[name], 0)
    const extra = (name: string) => there.reduce((sum, { extras }) => sum + (extras?.[name] ?? 0), 0)
    return (
      (there.length > 1 && there.some(booking => booking.isWhole)) ||
      total('vcpus') > capacity.vcpus ||
      total('memory_mb') > capacity.memory_mb ||
      total('disk_gb') > capacity.disk_gb ||
      ['GPU', 'FPGA'].some(name => extra(name) > (capacity.extras?.[name] ?? 0))
    )
  })
}

const leasable = fc
  .record({
    capacity: fc.record({
      vcpus: fc.integer({ min: 1, max: 8 }),
      memory_mb: fc.integer({ min: 1, max: 6 }),
      disk_gb: fc.integer({ min: 0, max: 4 }),
      extras: fc.constantFrom(undefined, { GPU: 2 }, { GPU: 4, FPGA: 2 }),
    }),
    isReservable: fc.constantFrom(true, true, true, true, false),
    drawn: fc.array(drawn, { maxLength: 5 }),
  })
  .map(({ capacity, isReservable, drawn }) => ({ capacity, isReservable, booked: booked(capacity, drawn) }))

const world = fc.array(leasable, { minLength: 1, maxLength: 3 }).map(list =>
  list.map((one, i): Leasable => ({
    id: asId(i + 1),
    kind: 'host',
    name: `h${i + 1}`,
    facts: () => undefined,
    ...one,
  })),
)

const accepts = fc.constantFrom(
  () => true,
  () => true,
  ({ id }: Leasable) => id !== 2,
  ({ id }: Leasable) => id === 2,
)
const wish: fc.Arbitrary<Wish> = fc.oneof(
  fc.record({
    kind: fc.constant('slots' as const),
    size,
    amount: fc.integer({ min: 1, max: 5 }),
    affinity: fc.constantFrom(null, null, true, false),
    accepts,
    held: fc
      .uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 2 })
      .map(ids => new Map(ids.map(id => [asId<Id>(id), 1]))),
    isFixed: fc.constant(false),
  }),
  fc.record({
    kind: fc.constant('whole' as const),
    min: fc.constant(1),
    max: fc.integer({ min: 1, max: 3 }),
    accepts,
    held: fc.constant(new Map<Id, number>()),
    isFixed: fc.constant(false),
  }),
)

const request: fc.Arbitrary<Request> = fc.record({
  window,
  except: fc.constantFrom(null, 'own'),
  wishes: fc.array(wish, { minLength: 1, maxLength: 3 }),
})

function bookingsOf({ window, wishes }: Request, places: Places, id: Id): Booked[] {
  return wishes.flatMap((wish, i) => {
    const slots = places[i]!.get(id) ?? 0
    if (slots === 0) return []
    const isWhole = wish.kind === 'whole'
    const each = wish.kind === 'whole' ? NOTHING : wish.size
    return {
      ...window,
      end: window.free,
      lease: 'new',
      reservation: `${i}`,
      slots,
      isWhole,
      ...times(each, slots),
    }
  })
}

function isAllowed(world: readonly Leasable[], request: Request, places: Places): boolean {
  const satisfied = request.wishes.every((wish, i) => satisfies(world, wish, places[i]!))
  return (
    satisfied &&
    world.every(one => {
      const others = one.booked.filter(({ lease }) => lease !== request.except)
      const added = bookingsOf(request, places, one.id)
      return added.length === 0 || !isOversold(one.capacity, [...others, ...added])
    })
  )
}

function satisfies(world: readonly Leasable[], wish: Wish, places: ReadonlyMap<Id, number>): boolean {
  const slots = [...places.values()]
  const total = slots.reduce((sum, n) => sum + n, 0)
  const usable = new Set(world.filter(one => one.isReservable && wish.accepts(one)).map(({ id }) => id))
  if ([...places.keys()].some(id => !usable.has(id))) return false
  if (wish.kind === 'whole') return slots.every(n => n === 1) && total >= wish.min && total <= wish.max
  if (total !== wish.amount) return false
  if (wish.affinity === true) return places.size === 1
  return wish.affinity === null || slots.every(n => n === 1)
}

/** Every way to give each wish any number of slots on each host. */
function* everyPlaces(world: readonly Leasable[], wishes: readonly Wish[]): Generator<Places> {
  const [wish, ...rest] = wishes
  if (!wish) {
    yield []
    return
  }
  const most = wish.kind === 'whole' ? 1 : wish.amount
  for (const counts of everyCount(world.length, most)) {
    const places = new Map(counts.flatMap((n, i) => (n > 0 ? [[world[i]!.id, n] as const] : [])))
    if (!satisfies(world, wish, places)) continue
    for (const others of everyPlaces(world, rest)) yield [places, ...others]
  }
}

function* everyCount(hosts: number, most: number): Generator<number[]> {
  if (hosts === 0) yield []
  else for (let n = 0; n <= most; n++) for (const others of everyCount(hosts - 1, most)) yield [n, ...others]
}

describe('the peak of bookings', () => {
  const sized = drawn.map(({ window, size, slots }): Booked => ({
    ...window,
    end: window.free,
    lease: 'x',
    reservation: 'x',
    slots,
    isWhole: false,
    ...times(size, slots),
  }))

  it('is the same when they are added one after another', () => {
    const several = fc.array(fc.array(sized, { maxLength: 3 }), { maxLength: 4 })
    fc.assert(
      fc.property(several, parts => {
        const booked = parts.reduce<readonly Booked[]>((booked, more) => withMore({ booked }, more), [])
        assert.deepEqual(booked, parts.flat())
        const [peak, known] = [peakOf(parts.flat()), wholePeakOf({ booked })]
        for (const name of ['vcpus', 'memory_mb', 'disk_gb', 'GPU', 'FPGA']) {
          assert.equal(amountIn(known, name), amountIn(peak, name))
        }
      }),
      { numRuns },
    )
  })

  it('is the highest use of each size and class at any instant', () => {
    fc.assert(
      fc.property(fc.array(sized, { minLength: 1, maxLength: 6 }), bookings => {
        const peak = peakOf(bookings)
        for (const name of ['vcpus', 'memory_mb', 'disk_gb', 'GPU', 'FPGA']) {
          const uses = INSTANTS.map(instant =>
            bookings
              .filter(({ start, free }) => start <= instant && instant < free)
              .reduce((sum, one) => sum + amountIn(one, name), 0),
          )
          assert.equal(amountIn(peak, name), Math.max(...uses))
        }
      }),
      { numRuns },
    )
  })
})

describe('places for a lease', () => {
  it('never oversell a host at any instant, and are what was wished for', () => {
    fc.assert(
      fc.property(world, request, (world, request) => {
        const { places } = fit(world, request)
        if (places) assert.ok(isAllowed(world, request, places))
      }),
      { numRuns },
    )
  })

  it('are found whenever there are any', () => {
    fc.assert(
      fc.property(world, request, (world, request) => {
        const { places, isExhausted } = fit(world, request)
        if (places || isExhausted) return
        for (const others of everyPlaces(world, request.wishes)) assert.ok(!isAllowed(world, request, others))
      }),
      { numRuns },
    )
  })

  it('in use stay where they are, and only more are added', () => {
    fc.assert(
      fc.property(world, request, fc.integer({ min: 0, max: 3 }), (world, request, more) => {
        const first = fit(world, request).places
        if (!first) return
        const wishes = request.wishes.map((wish, i): Wish => {
          const fixed = { held: first[i]!, isFixed: true }
          return wish.kind === 'slots' ? { ...wish, ...fixed, amount: wish.amount + more } : { ...wish, ...fixed }
        })
        const second = fit(world, { ...request, wishes }).places
        if (more === 0) assert.ok(second)
        if (!second) return
        assert.ok(isAllowed(world, { ...request, wishes }, second))
        for (const [i, kept] of first.entries()) {
          for (const [id, slots] of kept) assert.ok((second[i]!.get(id) ?? 0) >= slots)
        }
      }),
      { numRuns },
    )
  })

  it('are first those that it has, then hosts in use, then free ones', () => {
    const capacity = { vcpus: 4, memory_mb: 4, disk_gb: 4 }
    const one = { vcpus: 1, memory_mb: 1, disk_gb: 1 }
    const busy: Booked = { start: 0, free: 9, end: 9, lease: 'x', reservation: 'x', slots: 1, isWhole: false, ...one }
    const host = (id: number, booked: Booked[]): Leasable => {
      return { id: asId(id), kind: 'host', name: `${id}`, isReservable: true, facts: () => undefined, capacity, booked }
    }
    const world = [host(1, []), host(2, [busy]), host(3, [])]
    const wish = (amount: number, held: number[]): Wish => ({
      kind: 'slots',
      size: one,
      amount,
      affinity: null,
      accepts: () => true,
      held: new Map(held.map(id => [asId<Id>(id), 1])),
      isFixed: false,
    })
    const request = (wish: Wish): Request => ({ window: { start: 0, free: 5 }, except: null, wishes: [wish] })
    assert.deepEqual(fit(world, request(wish(3, []))).places, [new Map([[2, 3]])])
    assert.deepEqual(fit(world, request(wish(5, []))).places, [
      new Map([
        [2, 3],
        [1, 2],
      ]),
    ])
    assert.deepEqual(fit(world, request(wish(3, [3]))).places, [new Map([[3, 3]])])
  })
})
