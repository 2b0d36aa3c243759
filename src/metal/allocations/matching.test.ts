import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seeded } from '../../clock/chance.ts'
import type { FleetNode } from '../nodes/fleet.ts'
import { forecast } from './forecast.ts'
import { fits, propose, type Supply, suggestions, type Wish } from './matching.ts'
import { countsOf, sentenceOf, whyNot } from './why-not.ts'
import { asId } from '../../../test/support/ids.ts'
import { supplyOf } from '../../../test/support/supply.ts'

const wish = (more: Partial<Wish> = {}): Wish => ({
  id: 1,
  name: null,
  resourceClass: 'gpu',
  traits: [],
  candidates: null,
  owner: null,
  until: null,
  ...more,
})

const suggested = (supply: Supply, wanted: Wish) =>
  Array.from(suggestions(supply, wanted, seeded(1)), node => node.name!).toSorted()

test('a node is suggested only when it is free, powered, of the class, and nobody’s', () => {
  const supply = supplyOf([
    {},
    { maintenance: 1 },
    { provision_state: 'active' },
    { power_state: null },
    { instance_uuid: 'someone' },
    { resource_class: 'gpu.a' },
    { resource_class: null },
    { claimed: true },
  ])
  assert.deepEqual(suggested(supply, wish()), ['n1'])
})

test('a node must have all traits that are asked for, and may have more', () => {
  const supply = supplyOf([{ traits: ['A'] }, { traits: ['A', 'B', 'C'] }, { traits: ['B'] }])
  assert.deepEqual(suggested(supply, wish({ traits: ['A', 'B'] })), ['n2'])
})

test('with candidates only those are suggested; with an owner only nodes that it owns or leases', () => {
  const supply = supplyOf([{ owner: 'p' }, { lessee: 'p' }, { owner: 'q' }, {}])
  assert.deepEqual(suggested(supply, wish({ candidates: new Set(['uuid-3', 'uuid-9']) })), ['n3'])
  assert.deepEqual(suggested(supply, wish({ owner: 'p' })), ['n1', 'n2'])
})

test('the node with the name of the allocation comes first', () => {
  const supply = supplyOf(Array.from({ length: 50 }, () => ({})))
  for (let seed = 0; seed < 20; seed++) {
    assert.equal(suggestions(supply, wish({ name: 'n7' }), seeded(seed)).next().value!.name, 'n7')
  }
})

test('the same seed gives the same order, and another seed gives another', () => {
  const supply = supplyOf(Array.from({ length: 50 }, () => ({})))
  const order = (seed: number) => Array.from(suggestions(supply, wish(), seeded(seed)), node => node.id).join()
  assert.equal(order(1), order(1))
  assert.notEqual(order(1), order(2))
})

const sketches = fc.array(
  fc.record({
    maintenance: fc.constantFrom<(0 | 1)[]>(0, 0, 0, 1),
    provision_state: fc.constantFrom('available', 'available', 'active'),
    power_state: fc.constantFrom('power off', 'power off', null),
    traits: fc.subarray(['A', 'B', 'C']),
    claimed: fc.boolean(),
    owner: fc.constantFrom(null, 'p', 'q'),
  }),
  { maxLength: 20 },
)
const wishes = fc.array(
  fc.record({
    traits: fc.subarray(['A', 'B', 'C']),
    owner: fc.constantFrom(null, 'p'),
    candidates: fc.constantFrom(null, new Set(['uuid-1', 'uuid-2', 'uuid-3'])),
  }),
  { maxLength: 12 },
)

test('proposals fit, give no node twice, and leave no wish open that a free node fits', () => {
  fc.assert(
    fc.property(sketches, wishes, fc.nat(), (fleet, asked, seed) => {
      const supply = supplyOf(fleet)
      const inOrder = asked.map((more, i) => wish({ id: i + 1, ...more }))
      const picks = propose(supply, inOrder, new Set(), seeded(seed))
      for (const [wanted, node] of picks) assert.ok(fits(supply, node, wanted))
      const taken = new Set(Array.from(picks.values(), node => node.id))
      assert.equal(taken.size, picks.size)
      for (const wanted of inOrder.filter(one => !picks.has(one))) {
        const left = supply.nodes.filter(node => !taken.has(node.id) && fits(supply, node, wanted))
        assert.deepEqual(left, [])
      }
    }),
  )
})

test('every node of the class is counted once, and the counts agree with the nodes that fit', () => {
  fc.assert(
    fc.property(sketches, fc.subarray(['A', 'B', 'C']), (fleet, traits) => {
      const supply = supplyOf(fleet)
      const wanted = wish({ traits })
      const { considered, available, causes, relaxations } = whyNot(supply, wanted, new Map(), 0)
      assert.equal(considered, fleet.length)
      assert.equal(
        considered,
        causes.reduce((sum, { count }) => sum + count, available),
      )
      assert.equal(available, supply.nodes.filter(node => fits(supply, node, wanted)).length)
      for (const { without, nodes } of relaxations) {
        const smaller = wish({ traits: traits.filter(trait => !without.traits?.includes(trait)) })
        assert.equal(nodes, supply.nodes.filter(node => fits(supply, node, smaller)).length)
      }
    }),
  )
})

test('the causes are told with their counts, the most frequent first', () => {
  const supply = supplyOf([
    { instance_uuid: 'a', provision_state: 'active' },
    { instance_uuid: 'b' },
    { maintenance: 1 },
    { provision_state: 'manageable' },
    { claimed: true },
    { traits: ['A'] },
    {},
    { retired: 1 },
    { provision_state: 'clean failed', maintenance: 1 },
    {},
  ])
  const wanted = wish({ traits: ['A', 'B'] })
  const kept = new Map([7, 10].map(id => [asId<FleetNode['id']>(id), id === 7 ? 'reserved' : 'busy'] as const))
  const reasons = whyNot(supply, wanted, kept, 0)
  assert.equal(
    sentenceOf('U', wanted, reasons),
    'Failed to process allocation U: no suitable nodes have the requested traits A, B. 10 of class gpu: 2 allocated, ' +
      '1 in maintenance, 1 not available, 1 claimed through Placement, 1 without B, 1 reserved, ' +
      '1 retired, 1 broken, 1 locked by a power change or the like, for a moment: try again.',
  )
  assert.deepEqual(reasons.relaxations, [{ without: { traits: ['B'] }, nodes: 1 }])
})

test('when the class has no node, the sentence says so', () => {
  const reasons = whyNot(supplyOf([]), wish(), new Map(), 0)
  assert.equal(countsOf(reasons), 'There is no node of class gpu.')
})

test('a node that is busy for a moment fits later, not now', () => {
  const supply = supplyOf([{}, {}])
  const told = (...busy: number[]) => {
    const kept = new Map(busy.map(id => [asId<FleetNode['id']>(id), 'busy'] as const))
    return forecast(supply, wish(), [], kept, seeded(1), 0)
  }
  assert.deepEqual([told().count, told(1).count, told(1, 2).count], [2, 1, 0])
  const { reasons } = told(1, 2)
  assert.deepEqual([reasons.available, reasons.causes.map(({ cause, count }) => [cause, count])], [0, [['busy', 2]]])
})

test('a forecast leaves suitable nodes to the allocations that wait', () => {
  const supply = supplyOf([{ traits: ['CUSTOM_FAST'] }, {}])
  const waiting = [wish({ id: 7, traits: ['CUSTOM_FAST'] }), wish({ id: 8, traits: ['CUSTOM_NONE'] })]
  const told = (more: Partial<Wish>) => {
    const { fits, nodes, promised } = forecast(supply, wish({ id: 9, ...more }), waiting, new Map(), seeded(1), 0)
    return [fits, nodes.map(({ name }) => name), promised]
  }
  assert.deepEqual(told({}), [true, ['n2'], 1])
  assert.deepEqual(told({ traits: ['CUSTOM_FAST'] }), [false, [], 1])
})
