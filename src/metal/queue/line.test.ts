import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { asId } from '../../../test/support/ids.ts'
import { type Sketch, supplyOf } from '../../../test/support/supply.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { type Booked, lineOf, type Occupant, type PlaceInLine, type Waiting } from './line.ts'
import type { QueueRules } from './order.ts'

const NOW = 1_000
const FIFO: QueueRules = { order: 'fifo', halfLifeMs: 1 }

const waits = (id: number, more: Partial<Waiting> = {}): Waiting => ({
  id,
  uuid: `w${id}`,
  project: 'p',
  since: id,
  name: null,
  resourceClass: 'gpu',
  traits: [],
  candidates: null,
  owner: null,
  until: null,
  waitUntil: null,
  ...more,
})

interface Machine extends Sketch {
  occupant?: Occupant
  booked?: Booked[]
}

function placesOn(machines: readonly Machine[], waiting: readonly Waiting[]): PlaceInLine[] {
  const supply = supplyOf(
    machines.map(({ occupant, booked, ...sketch }) => ({
      ...(occupant && { instance_uuid: 'someone', provision_state: 'active' as const }),
      ...(booked && { leasable: 1 as const }),
      ...sketch,
    })),
  )
  const by = <T>(pick: (machine: Machine) => T | undefined) =>
    new Map(machines.flatMap((machine, i): [NodeId, T][] => (pick(machine) ? [[asId(i + 1), pick(machine)!]] : [])))
  const ahead = { occupants: by(({ occupant }) => occupant), booked: by(({ booked }) => booked) }
  return lineOf(waiting, new Map(), FIFO, supply, ahead, NOW)
}

const until = (end: number | null): Machine => ({ occupant: { what: 'allocation', end } })
const starts = (places: readonly PlaceInLine[]) => places.map(({ start }) => start)

test('the first in line for a free node starts now, and nothing is in its way', () => {
  const [first, second] = placesOn([{}, until(2_000)], [waits(2), waits(1)])
  assert.deepEqual(first, { uuid: 'w1', place: 1, of: 2, start: NOW, because: null, suits: ['uuid-1', 'uuid-2'] })
  assert.deepEqual(second!.because, { node: 'uuid-2', what: 'allocation', end: 2_000 })
})

test('each takes the node that comes free next, and gives it back when it ends', () => {
  const line = [waits(1, { until: 2_500 }), waits(2, { until: 9_000 }), waits(3), waits(4)]
  const places = placesOn([until(2_000), until(3_000)], line)
  assert.deepEqual(starts(places), [2_000, 2_500, 3_000, 9_000])
  assert.deepEqual(places[1]!.because, { node: 'uuid-1', what: 'ahead', end: 2_500 })
})

test('without a known end there is no start, and an end that is overdue is now', () => {
  assert.deepEqual(starts(placesOn([until(null), { maintenance: 1 }], [waits(1)])), [null])
  assert.deepEqual(starts(placesOn([until(NOW - 500)], [waits(1)])), [NOW])
})

test('whoever gives up before its turn leaves the node to the next', () => {
  const line = [waits(1, { waitUntil: 1_500 }), waits(2, { until: 1_900 }), waits(3)]
  assert.deepEqual(starts(placesOn([until(2_000)], line)), [null, null, 2_000])
})

test('an enrolled node is had only for a while, and only where no lease comes between', () => {
  const enrolled = { booked: [{ start: 2_000, free: 3_000 }] }
  const line = [waits(1), waits(2, { until: 2_500 }), waits(3, { until: 2_000 }), waits(4, { until: 4_000 })]
  const places = placesOn([enrolled], line)
  assert.deepEqual(starts(places), [null, null, NOW, 3_000])
  assert.deepEqual(places[3]!.because, { node: 'uuid-1', what: 'lease', end: 3_000 })
  assert.deepEqual(places[0]!.suits, [])
})

test('a place counts those before who wait for the same nodes, not those for others', () => {
  const nodes = [{ ...until(null), traits: ['A'] }, until(null), { ...until(null), resource_class: 'cpu' }]
  const line = [
    waits(1),
    waits(2, { traits: ['A'] }),
    waits(3, { candidates: new Set(['uuid-2']) }),
    waits(4, { resourceClass: 'cpu' }),
  ]
  const places = placesOn(nodes, line).map(({ place, of }) => `${place} of ${of}`)
  assert.deepEqual(places, ['1 of 3', '2 of 2', '2 of 2', '1 of 1'])
})

test('the node of its name comes first', () => {
  const places = placesOn([until(2_000), until(2_000)], [waits(1, { name: 'n2' }), waits(2)])
  assert.deepEqual(
    places.map(({ because }) => because!.node),
    ['uuid-2', 'uuid-1'],
  )
})

const END = 40
const aTime = fc.integer({ min: 1, max: END - 10 })
const aMachine = fc.record({
  end: fc.option(aTime),
  isFree: fc.boolean(),
  traits: fc.constantFrom<string[]>([], ['A']),
  spans: fc.option(fc.array(fc.tuple(aTime, fc.integer({ min: 1, max: 8 })), { maxLength: 2 })),
})
const aWish = fc.record({
  until: fc.option(aTime),
  waitUntil: fc.option(aTime),
  traits: fc.constantFrom<string[]>([], ['A']),
})

test('it agrees with a clock that ticks, and with whoever is first at each tick taking what is free', () => {
  fc.assert(
    fc.property(fc.array(aMachine, { maxLength: 4 }), fc.array(aWish, { maxLength: 5 }), (sketches, wishes) => {
      const at = (time: number) => NOW + time
      const machines = sketches.map(({ end, isFree, traits, spans }) => ({
        traits,
        ...(!isFree && until(end === null ? null : at(end))),
        ...(spans && { booked: spans.map(([from, long]) => ({ start: at(from), free: at(from + long) })) }),
      }))
      const line = wishes.map((wish, i) =>
        waits(i + 1, {
          traits: wish.traits,
          until: wish.until && at(wish.until),
          waitUntil: wish.waitUntil && at(wish.waitUntil),
        }),
      )
      assert.deepEqual(starts(placesOn(machines, line)), ticked(machines, line))
    }),
    { numRuns: 1_000 },
  )
})

/** When each starts, tick by tick. */
function ticked(machines: readonly Machine[], line: readonly Waiting[]): (number | null)[] {
  const found = line.map((): number | null => null)
  const busyUntil = machines.map(({ occupant }) => (occupant ? (occupant.end ?? Infinity) : 0))
  for (let at = NOW; at <= NOW + END; at++) {
    for (const [i, { traits, until: end, waitUntil }] of line.entries()) {
      if (found[i] !== null || (end ?? Infinity) <= at || (waitUntil ?? Infinity) <= at) continue
      const place = machines.findIndex((machine, m) => {
        const isFree = busyUntil[m]! <= at && traits.every(trait => machine.traits!.includes(trait))
        if (!isFree || !machine.booked) return isFree
        return end !== null && machine.booked.every(({ start, free }) => end <= start || free <= at)
      })
      if (place < 0) continue
      found[i] = at
      busyUntil[place] = end ?? Infinity
    }
  }
  return found
}
