// One readable example for each rule of allocation candidates.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer } from './answer.ts'
import { NEWEST, WORK_MAX, below, flat, parse, provider, read } from '../../../test/support/candidates/examples.ts'
import { group, request } from './request.ts'
import type { CandidateRequest } from './request.ts'
import { searchNow } from './search.ts'
import { CandidateTable } from './table.ts'
import type { ProviderSnapshot } from './table.ts'
import { uuid } from '../../../test/support/candidates/worlds.ts'

const SHARES = 'MISC_SHARES_VIA_AGGREGATE'
const [A, B] = [uuid('a', 1), uuid('a', 2)]

/** Each candidate as "suffix:providers", providers by number. */
function found(world: ProviderSnapshot[], asked: CandidateRequest): string[] {
  const table = new CandidateTable()
  table.load(world)
  const number = (id: string) => String(Number(id.slice(-12)))
  return read(table, asked)
    .map(({ mappings }) =>
      Object.entries(mappings)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([suffix, ids]) => `${suffix}:${ids.map(number).sort().join('+')}`)
        .join(' '),
    )
    .sort()
}

const root = flat(1, { DISK_GB: 100 })
const numa = [
  below(root, 2, { VCPU: 4 }, { traits: ['CUSTOM_X'] }),
  below(root, 3, { VCPU: 8 }, { traits: ['CUSTOM_Y'] }),
]
const tree = [root, ...numa]

test('the unsuffixed group may be spread over a tree', () => {
  assert.deepEqual(found(tree, request([group('', { DISK_GB: 10, VCPU: 1 })])), [':1+2', ':1+3'])
})

test('what is set aside is offered only together with what its owner set aside on a child of it', () => {
  const host = flat(1, { VCPU: 8 }, { dedicatedTo: 'leases' })
  const slots = below(host, 2, { CUSTOM_RESERVATION_A: 1 }, { managedBy: 'leases' })
  const world = [host, slots, below(host, 3, { CUSTOM_FPGA: 1 }), flat(4, { VCPU: 8 }, { dedicatedTo: 'leases' })]
  assert.deepEqual(found(world, request([group('', { VCPU: 1 })])), [])
  assert.deepEqual(found(world, request([group('', { VCPU: 1, CUSTOM_FPGA: 1 })])), [])
  assert.deepEqual(found(world, request([group('', { VCPU: 1, CUSTOM_RESERVATION_A: 1 })])), [':1+2'])
  assert.deepEqual(found(world, request([group('1', { VCPU: 1 }), group('2', { CUSTOM_RESERVATION_A: 1 })])), [
    '1:1 2:2',
  ])
  assert.deepEqual(found(world, request([group('', { CUSTOM_FPGA: 1 })])), [':3'])
  assert.deepEqual(found([...world, flat(5, { VCPU: 1 })], request([group('', { VCPU: 1 })])), [':5'])
})

test('below 1.29 a candidate may not use two providers of one tree', () => {
  assert.deepEqual(found(tree, request([group('', { DISK_GB: 10, VCPU: 1 })], { nested: false })), [])
  assert.deepEqual(found(tree, request([group('', { VCPU: 1 })], { nested: false })), [':2', ':3'])
})

test('providers that stand alone must supply everything', () => {
  const world = [flat(1, { VCPU: 4 }), flat(2, { DISK_GB: 10 }), flat(3, { VCPU: 4, DISK_GB: 10 })]
  assert.deepEqual(found(world, request([group('', { VCPU: 1, DISK_GB: 1 })])), [':3'])
})

test('a suffixed group takes one provider, which has all resources and traits itself', () => {
  assert.deepEqual(found(tree, request([group('1', { DISK_GB: 10, VCPU: 1 })])), [])
  assert.deepEqual(found(tree, request([group('1', { VCPU: 1 }, { required: [['CUSTOM_X', 'CUSTOM_Y']] })])), [
    '1:2',
    '1:3',
  ])
  assert.deepEqual(found(tree, request([group('1', { VCPU: 1 }, { required: [['CUSTOM_X'], ['CUSTOM_Y']] })])), [])
})

test('the unsuffixed group covers its required traits together, and none of it may have a forbidden one', () => {
  const world = [flat(1, { DISK_GB: 100 }, { traits: ['CUSTOM_D'] }), ...numa]
  const asked = (required: string[][], forbidden: string[]) =>
    request([group('', { DISK_GB: 10, VCPU: 1 }, { required, forbidden })])
  assert.deepEqual(found(world, asked([['CUSTOM_D'], ['CUSTOM_X']], [])), [':1+2'])
  assert.deepEqual(found(world, asked([], ['CUSTOM_X'])), [':1+3'])
  assert.deepEqual(found(world, asked([], ['CUSTOM_D'])), [])
})

test('an aggregate of the root counts for its tree in the unsuffixed group only', () => {
  const world = [flat(1, { DISK_GB: 100 }, { aggregates: [A] }), ...numa]
  assert.deepEqual(found(world, request([group('', { VCPU: 1 }, { memberOf: [[A]] })])), [':2', ':3'])
  assert.deepEqual(found(world, request([group('1', { VCPU: 1 }, { memberOf: [[A]] })])), [])
  assert.deepEqual(found(world, request([group('', { VCPU: 1 }, { forbiddenAggregates: [A] })])), [])
  assert.deepEqual(found(world, request([group('1', { VCPU: 1 }, { forbiddenAggregates: [A] })])), ['1:2', '1:3'])
})

const sharer = flat(9, { DISK_GB: 500 }, { traits: [SHARES], aggregates: [A] })
const hosts = [flat(1, { VCPU: 4 }, { aggregates: [A] }), flat(2, { VCPU: 4 }, { aggregates: [B] })]

test('a sharing provider serves the trees that have an aggregate in common with it', () => {
  assert.deepEqual(found([...hosts, sharer], request([group('', { VCPU: 1, DISK_GB: 1 })])), [':1+9'])
  assert.deepEqual(found([...hosts, sharer], request([group('', { VCPU: 1 }), group('1', { DISK_GB: 1 })])), [':1 1:9'])
  assert.deepEqual(found([...hosts, { ...sharer, traits: [] }], request([group('', { VCPU: 1, DISK_GB: 1 })])), [])
})

test('any provider of a tree may link it to a sharing provider', () => {
  const linked = [flat(1, { VCPU: 4 }), below(flat(1, {}), 2, {}, { aggregates: [A] }), sharer]
  assert.deepEqual(found(linked, request([group('', { VCPU: 1, DISK_GB: 1 })])), [':1+9'])
})

test('a shared pool finds the few trees it serves among many', () => {
  const many = Array.from({ length: 12 }, (_, i) => flat(20 + i * 2, { VCPU: 4 }, { aggregates: i < 2 ? [A] : [B] }))
  const trees = many.flatMap(one => [one, below(one, one.id + 1, {})])
  assert.deepEqual(found([...trees, sharer], request([group('', { VCPU: 1, DISK_GB: 1 })])), [':20+9', ':22+9'])
})

test('the same candidate under several anchors appears once', () => {
  const world = [...hosts, flat(3, { VCPU: 1 }, { aggregates: [A] }), sharer]
  assert.deepEqual(found(world, request([group('', { DISK_GB: 1 })])), [':9'])
})

test('a sharing provider must itself be in the aggregates asked for', () => {
  const world = [flat(1, { VCPU: 4 }, { aggregates: [A, B] }), sharer]
  const asked = (memberOf: string[][]) => request([group('', { VCPU: 1, DISK_GB: 1 }, { memberOf })])
  assert.deepEqual(found(world, asked([[A]])), [':1+9'])
  assert.deepEqual(found(world, asked([[B]])), [])
})

test('in_tree shuts sharing providers of other trees out of the unsuffixed group, and chooses them in a suffixed one', () => {
  const world = [...hosts, sharer]
  const inTree = uuid('b', 1)
  assert.deepEqual(found(world, request([group('', { VCPU: 1, DISK_GB: 1 }, { inTree })])), [])
  const split = [group('', { VCPU: 1 }, { inTree }), group('1', { DISK_GB: 1 }, { inTree: uuid('b', 9) })]
  assert.deepEqual(found(world, request(split)), [':1 1:9'])
  assert.deepEqual(
    found(tree, request([group('', { VCPU: 1 }, { inTree: uuid('b', 3) })])),
    [':2', ':3'],
    'any member names the tree',
  )
  assert.deepEqual(found(tree, request([group('', { VCPU: 1 }, { inTree: uuid('b', 77) })])), [])
})

test('root_required looks at the anchor, not at a sharing provider', () => {
  const world = [
    flat(1, { VCPU: 4 }, { aggregates: [A], traits: ['CUSTOM_R'] }),
    flat(2, { VCPU: 4 }, { aggregates: [A] }),
    sharer,
  ]
  const asked = (rest: Partial<CandidateRequest>) => request([group('', { VCPU: 1, DISK_GB: 1 })], rest)
  assert.deepEqual(found(world, asked({ rootRequired: ['CUSTOM_R'] })), [':1+9'])
  assert.deepEqual(found(world, asked({ rootForbidden: ['CUSTOM_R'] })), [':2+9'])
})

test('isolate keeps suffixed groups apart, and only those', () => {
  const two = [group('1', { VCPU: 1 }), group('2', { VCPU: 1 })]
  assert.deepEqual(found(tree, request(two, { groupPolicy: 'isolate' })), ['1:2 2:3', '1:3 2:2'])
  assert.equal(found(tree, request(two, { groupPolicy: 'none' })).length, 4)
  const withPlain = request([group('', { VCPU: 1 }), group('1', { VCPU: 1 })], { groupPolicy: 'isolate' })
  assert.equal(found(tree, withPlain).length, 4)
})

test('sums on one provider are held against its room and its max_unit', () => {
  const world = [flat(1, { VCPU: 8 })]
  const three = (amount: number) => request([group('', { VCPU: amount }), group('1', { VCPU: amount })])
  assert.deepEqual(found(world, three(4)), [':1 1:1'])
  assert.deepEqual(found(world, three(5)), [])
  world[0]!.inventories[0]!.maxUnit = 6
  assert.deepEqual(found(world, three(4)), [])
  world[0]!.inventories[0]!.maxUnit = 8
  world[0]!.inventories[0]!.minUnit = 3
  assert.deepEqual(found(world, three(2)), [], 'min_unit holds for each group')
})

test('same_subtree needs one of the chosen providers above all others', () => {
  const gpus = [below(numa[0]!, 4, { VGPU: 1 }), below(numa[1]!, 5, { VGPU: 1 })]
  const asked = (sameSubtree: string[][]) =>
    request([group('1', { VCPU: 1 }), group('2', { VGPU: 1 })], { groupPolicy: 'none', sameSubtree })
  assert.equal(found([...tree, ...gpus], asked([])).length, 4)
  assert.deepEqual(found([...tree, ...gpus], asked([['1', '2']])), ['1:2 2:4', '1:3 2:5'])
})

test('a group without resources binds others through same_subtree, and shows in mappings only', () => {
  const asked = request([group('1', { VCPU: 1 }), group('2', {}, { required: [['CUSTOM_Y']] })], {
    groupPolicy: 'none',
    sameSubtree: [['1', '2']],
  })
  assert.deepEqual(found(tree, asked), ['1:3 2:3'])
  assert.deepEqual(found(tree, { ...asked, groupPolicy: 'isolate' }), [], 'isolate counts it too')
  const table = new CandidateTable()
  table.load(tree)
  assert.deepEqual(Object.keys(read(table, asked)[0]!.allocations), [uuid('b', 3)])
  const empty = request([group('1', { VCPU: 1 }), group('2', {}, { forbidden: ['CUSTOM_X'] })], { groupPolicy: 'none' })
  assert.deepEqual(found(tree, empty), [], 'asking for nothing finds nothing')
})

test('summaries cover every provider of each tree in use, and the roots say where they belong', () => {
  const table = new CandidateTable()
  table.load([...tree, flat(8, { DISK_GB: 1 })])
  const result = searchNow(table, request([group('', { VCPU: 8 })]), WORK_MAX)
  const { provider_summaries: summaries } = parse(answer(table, result, NEWEST))
  assert.deepEqual(summaries, {
    [uuid('b', 1)]: {
      resources: { DISK_GB: { capacity: 100, used: 0 } },
      traits: [],
      parent_provider_uuid: null,
      root_provider_uuid: uuid('b', 1),
    },
    [uuid('b', 2)]: {
      resources: { VCPU: { capacity: 4, used: 0 } },
      traits: ['CUSTOM_X'],
      parent_provider_uuid: uuid('b', 1),
      root_provider_uuid: uuid('b', 1),
    },
    [uuid('b', 3)]: {
      resources: { VCPU: { capacity: 8, used: 0 } },
      traits: ['CUSTOM_Y'],
      parent_provider_uuid: uuid('b', 1),
      root_provider_uuid: uuid('b', 1),
    },
  })
})

test('the oldest form lists allocations, and summarises only what is used and asked for', () => {
  const table = new CandidateTable()
  table.load([provider(1, { inventories: flat(1, { VCPU: 4, DISK_GB: 10 }).inventories, traits: ['CUSTOM_X'] })])
  const result = searchNow(table, request([group('', { VCPU: 1 })], { nested: false }), WORK_MAX)
  const words = { keyed: false, traits: false, allClasses: false, nested: false, mappings: false }
  assert.deepEqual(JSON.parse(answer(table, result, words).toString()), {
    allocation_requests: [{ allocations: [{ resource_provider: { uuid: uuid('b', 1) }, resources: { VCPU: 1 } }] }],
    provider_summaries: { [uuid('b', 1)]: { resources: { VCPU: { capacity: 4, used: 0 } } } },
  })
})
