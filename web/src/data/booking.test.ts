import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NoFit } from '../../../src/client/errors.ts'
import type { LeaseExplained, LeaseRefusal } from '../../../src/client/leases.ts'
import type { Machine, Span } from '../../../src/client/status.ts'
import { answerOf, answerToRefusal, offersFor, taken } from './booking-answer.ts'
import { changeOf, type Draft, leaseOf, wrongWith } from './booking-draft.ts'
import { ghostsFor, type LaneWorld, touchOf } from './booking-lanes.ts'

const HOUR = 3_600_000
const now = Date.parse('2026-11-15T17:12:30Z')
const at = (text: string) => Date.parse(`${text}:00Z`)
const draft: Draft = {
  kind: 'new',
  name: '',
  class: 'gpu',
  traits: ['CUSTOM_NVLINK'],
  count: 2,
  start: at('2026-11-20T09:00'),
  end: at('2026-11-22T09:00'),
  machines: [],
  lease: null,
}
const lease = {
  kind: 'lease' as const,
  id: 'l1',
  name: 'mine',
  start: draft.start,
  end: draft.end,
  machines: ['a', 'b'],
}
const moved: Draft = { ...draft, kind: 'move', lease }

const refusal: LeaseRefusal = {
  reasons: [
    { reservation: 0, reason: 'free', count: 1, sample: [] },
    {
      reservation: 0,
      reason: 'leased as a whole',
      count: 2,
      sample: [
        {
          host: 'b',
          name: 'rack-2',
          detail: 'booked',
          from: '2026-11-20T18:00:00.000000',
          until: '2026-11-22T18:00:00.000000',
          lease: { id: 'l9', name: 'theirs', project_id: 'p', user_id: 'u' },
        },
      ],
    },
    { reservation: 0, reason: 'booked in part', count: 1, sample: [] },
  ],
  windows: [
    {
      start_date: '2026-11-22T18:00:00.000000',
      end_date: '2026-11-24T18:00:00.000000',
      last_start_date: null,
    },
  ],
  until_date: '2026-11-20T18:00:00.000000',
  most: [{ count: 1, of: 2 }],
}
const explained = (more: Partial<LeaseExplained> = {}): LeaseExplained => ({
  fits: false,
  message: 'Not enough',
  places: [],
  ...refusal,
  ...more,
})

test('a draft asks for machines of a class, by the minute and in UTC', () => {
  assert.deepEqual(leaseOf(draft, now), {
    name: '2-gpu',
    start_date: '2026-11-20 09:00',
    end_date: '2026-11-22 09:00',
    reservations: [
      { resource_type: 'physical:node', resource_class: 'gpu', traits: ['CUSTOM_NVLINK'], min: 2, max: 2 },
    ],
  })
})

test('chosen machines are the only ones that will do', () => {
  const [reservation] = leaseOf({ ...draft, machines: ['a', 'b'] }, now).reservations
  assert.deepEqual(reservation!['candidate_nodes'], ['a', 'b'])
})

test('what was to begin just now begins now, however long someone thinks about it', () => {
  assert.equal(leaseOf({ ...draft, start: now - 20_000 }, now).start_date, 'now')
})

test('a move changes only the dates that differ, and the way back is the inverse', () => {
  const longer = { ...moved, end: moved.end + HOUR }
  assert.deepEqual(changeOf(longer, lease, now), { end_date: '2026-11-22 10:00' })
  assert.deepEqual(changeOf(lease, { ...lease, end: longer.end }, now), { end_date: '2026-11-22 09:00' })
  assert.deepEqual(changeOf(moved, lease, now), {})
})

test('what can be seen to be wrong is said before any server is asked', () => {
  assert.equal(wrongWith(draft, now), null)
  assert.equal(wrongWith({ ...draft, end: draft.start }, now), 'end')
  assert.equal(wrongWith({ ...draft, start: now - HOUR }, now), 'start')
  assert.equal(wrongWith({ ...draft, class: '' }, now), 'class')
  assert.equal(wrongWith({ ...moved, start: now - 2 * HOUR, end: now - HOUR }, now), 'past')
})

test('the refusal of the real booking says the same as the dry run', () => {
  const body = { details: refusal }
  const dry = answerOf(explained())
  assert.deepEqual(answerToRefusal(new NoFit('Not enough', [], { body }), 'x'), dry)
  assert.deepEqual([dry.free, dry.of, dry.until], [1, 2, at('2026-11-20T18:00')])
  assert.deepEqual(
    dry.reasons.map(({ kind, count }) => [kind, count]),
    [
      ['free', 1],
      ['booked', 3],
    ],
  )
})

test('any other refusal is told in its own words', () => {
  assert.equal(answerToRefusal(new Error('quota'), 'quota').message, 'quota')
})

test('machines that have numbers instead of names are not told', () => {
  assert.deepEqual(answerOf(explained({ fits: true, places: [{ '#1': 1, 'rack-1': 1 }] })).places, ['rack-1'])
})

test('what would fit: a later time, fewer machines, or a shorter time', () => {
  const offers = offersFor(draft, answerOf(explained()), now)
  assert.deepEqual(
    offers.map(({ kind }) => kind),
    ['window', 'fewer', 'shorter'],
  )
  assert.deepEqual(
    offers.map(offer => taken(draft, offer)).map(({ count, start, end }) => [count, start, end]),
    [
      [2, at('2026-11-22T18:00'), at('2026-11-24T18:00')],
      [1, draft.start, draft.end],
      [2, draft.start, at('2026-11-20T18:00')],
    ],
  )
})

test('who stretches a booking is offered the longest end first, unless it is no gain', () => {
  const stretched = { ...moved, end: moved.end + 48 * HOUR }
  const until = (date: string) => answerOf(explained({ until_date: date, windows: [] }))
  assert.deepEqual(
    offersFor(stretched, until('2026-11-23T09:00:00.000000'), now).map(({ kind }) => kind),
    ['shorter'],
  )
  assert.deepEqual(offersFor(stretched, until('2026-11-22T09:00:00.000000'), now), [])
})

test('of chosen machines fewer are not offered', () => {
  const offers = offersFor({ ...draft, machines: ['a', 'b'] }, answerOf(explained()), now)
  assert.ok(offers.every(({ kind }) => kind !== 'fewer'))
})

const machine = (uuid: string, more: Partial<Machine> = {}) =>
  ({ uuid, name: `rack-${uuid}`, class: 'gpu', bookable: true, maintenance: false, state: 'free', ...more }) as Machine
const span = (id: string, start: string, end: string | null): Span => ({
  machine: '',
  kind: 'lease',
  id,
  name: id,
  who: null,
  project: null,
  start: `${start}:00Z`,
  end: end === null ? null : `${end}:00Z`,
  mine: false,
  may: [],
})
const world = (spans: Record<string, Span[]>, machines = ['a', 'b', 'c'].map(uuid => machine(uuid))): LaneWorld => ({
  machines,
  spansOf: uuid => spans[uuid] ?? [],
  traitsOf: () => ['CUSTOM_NVLINK'],
})
const verdicts = (of: Draft, where: LaneWorld) =>
  ghostsFor(of, null, false, where).map(({ machine: uuid, verdict }) => `${uuid} ${verdict}`)

test('a draft lies on free machines; if they are too few, also on those that are in the way', () => {
  const theirs = span('l9', '2026-11-20T18:00', '2026-11-22T18:00')
  assert.deepEqual(verdicts(draft, world({ a: [theirs] })), ['b free', 'c free'])
  assert.deepEqual(verdicts(draft, world({ a: [theirs], b: [theirs] })), ['c free', 'a blocked', 'b blocked'])
})

test('what ends when it begins is not in its way, what has no end is', () => {
  const before = span('l9', '2026-11-18T09:00', '2026-11-20T09:00')
  const endless = span('l8', '2026-11-18T09:00', null)
  assert.deepEqual(verdicts({ ...draft, machines: ['a', 'b'] }, world({ a: [before], b: [endless] })), [
    'a free',
    'b blocked',
  ])
})

test('a booking that moves is not in its own way', () => {
  const own = span('l1', '2026-11-20T09:00', '2026-11-22T09:00')
  const later = { ...moved, start: moved.start + HOUR, end: moved.end + HOUR }
  assert.deepEqual(verdicts(later, world({ a: [own], b: [own] })), ['a free', 'b free'])
})

test('machines of another class, without the traits, or out of use are left out', () => {
  const machines = [
    machine('a', { class: 'cpu' }),
    machine('b', { bookable: false }),
    machine('c', { maintenance: true }),
    machine('d'),
  ]
  assert.deepEqual(verdicts(draft, world({}, machines)), ['d free'])
  assert.deepEqual(verdicts(draft, { ...world({}), traitsOf: () => [] }), [])
})

test('the places of the answer are where it lies, and stay while the next is awaited', () => {
  const answer = answerOf(explained({ fits: true, places: [{ 'rack-c': 1, 'rack-b': 1 }] }))
  const on = (isFresh: boolean) =>
    ghostsFor(draft, answer, isFresh, world({}))
      .map(({ machine: uuid }) => uuid)
      .toSorted()
  assert.deepEqual(
    [on(true), on(false)],
    [
      ['b', 'c'],
      ['b', 'c'],
    ],
  )
})

test('only what concerns the draft touches it', () => {
  const before = touchOf(draft, world({}))
  assert.equal(touchOf(draft, world({ a: [span('l9', '2026-12-20T18:00', '2026-12-22T18:00')] })), before)
  assert.notEqual(touchOf(draft, world({ a: [span('l9', '2026-11-20T18:00', '2026-11-22T18:00')] })), before)
  const others = [...world({}).machines, machine('x', { class: 'cpu' })]
  assert.equal(touchOf(draft, world({}, others)), before)
})
