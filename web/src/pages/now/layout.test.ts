import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machine } from '../../data/fixture.ts'
import { filtersIn, matcherOf } from '../../data/filter.ts'
import { changesBetween, commonPrefix, groupsOf, hostGroups, sameLayout, shortName } from './groups.ts'
import { linesIn, placeOf, rowsOf, stepTo, stripsOf, topOf } from './strips.ts'
import { classesOf, statesShown, survey } from './survey.ts'

const BY_NAME = { by: 'machine', isDown: false } as const
const named = (name: string, changes: Parameters<typeof machine>[0] = {}) => machine({ uuid: name, name, ...changes })
const layout = (groups: ReturnType<typeof groupsOf>) => ({ question: '', groups })
const ids = (groups: ReturnType<typeof groupsOf>) => groups.map(group => group.ids)

test('machines without a rack come last, and names lose what they share', () => {
  const machines = [
    named('rack-a01-01'),
    named('loose', { rack: null, slot: null }),
    named('rack-a10-01', { rack: 'rack-a10' }),
    named('rack-a02-01', { rack: 'rack-a02' }),
  ]
  const groups = groupsOf(machines, 'rack', BY_NAME)
  assert.deepEqual(
    groups.map(({ name, short }) => [name, short]),
    [
      ['rack-a01', 'a01'],
      ['rack-a02', 'a02'],
      ['rack-a10', 'a10'],
      [null, ''],
    ],
  )
})

test('names share what is before the last mark that all have', () => {
  assert.equal(commonPrefix(['node-01', 'node-02']), 'node-')
  assert.equal(commonPrefix(['node-01']), '')
  assert.equal(commonPrefix(['abc1', 'abc2']), '')
  assert.equal(commonPrefix(['a-1', 'b-1']), '')
})

test('a tile is called by its slot, else by its name, else by its id', () => {
  assert.equal(shortName(named('rack-a01-07', { slot: '07' }), { prefix: 'rack-a01-' }, 'rack'), '07')
  assert.equal(shortName(named('rack-a01-07', { slot: '07' }), { prefix: 'rack-' }, 'class'), 'a01-07')
  assert.equal(shortName(machine({ name: null, slot: null, uuid: '0123456789ab' }), { prefix: '' }, 'rack'), '01234567')
})

test('what is empty is sorted last, both ways', () => {
  const machines = [named('a'), named('b', { until: '2026-02-02' }), named('c', { until: '2026-01-01' })]
  assert.deepEqual(ids(groupsOf(machines, 'none', { by: 'until', isDown: false })), [['c', 'b', 'a']])
  assert.deepEqual(ids(groupsOf(machines, 'none', { by: 'until', isDown: true })), [['b', 'c', 'a']])
})

test('changes between two orders: came, went, moved to another group or place', () => {
  const order = (names: string[], rack = 'r') =>
    groupsOf(
      names.map(name => named(name, { rack })),
      'rack',
      BY_NAME,
    )
  const before = layout(order(['a', 'b', 'c']))
  assert.equal(changesBetween(before, before), 0)
  assert.equal(changesBetween(before, layout(order(['a', 'b', 'c', 'd']))), 1)
  assert.equal(changesBetween(before, layout(order(['a', 'c']))), 1)
  assert.equal(changesBetween(before, layout([...order(['a', 'b']), ...order(['c'], 's')])), 1)
  assert.equal(changesBetween(before, layout(order(['b', 'a', 'c']))), 2)
  assert.ok(sameLayout(before, layout(order(['a', 'b', 'c']))))
  assert.ok(!sameLayout(before, layout(order(['b', 'a', 'c']))))
})

test('hosts are grouped by what their names begin with', () => {
  const host = (name: string) => ({ uuid: name, name, used: {}, capacity: {}, lease: null })
  const groups = hostGroups([host('gpu-2'), host('compute-10'), host('compute-9')])
  assert.deepEqual(
    groups.map(({ name }) => name),
    ['compute', 'gpu'],
  )
  assert.deepEqual(ids(groups), [['compute-9', 'compute-10'], ['gpu-2']])
})

const SIZES = { columns: 3, abreast: 1, strip: 40, head: 0, foot: 5 }
const group = (key: string, size: number) => ({
  key,
  name: key,
  short: key,
  prefix: '',
  kind: 'machines' as const,
  ids: Array.from({ length: size }, (_, at) => `${key}${at}`),
})
const TWO = [group('a', 7), group('b', 2)]

test('strips: a group of seven in rows of three has three', () => {
  const strips = stripsOf(TWO, SIZES)
  assert.deepEqual(strips.heights, [40, 40, 45, 45])
  assert.deepEqual(
    strips.lines.map(({ top, height }) => [top, height]),
    [
      [0, 125],
      [125, 45],
    ],
  )
  assert.deepEqual(
    linesIn(strips, { from: 3, to: 4 }).map(({ key }) => key),
    ['b'],
  )
  assert.deepEqual(rowsOf(strips.lines[0]!, { from: 1, to: 9 }), { first: 1, last: 3 })
  assert.equal(topOf(strips, SIZES, placeOf(TWO, 'b1')!), 125)
  assert.equal(topOf(strips, SIZES, placeOf(TWO, 'a6')!), 80)
})

test('two groups abreast share a line as high as the larger', () => {
  const { lines, heights } = stripsOf(TWO, { ...SIZES, abreast: 2 })
  assert.deepEqual(
    lines.map(({ groups, count }) => [groups.length, count]),
    [[2, 3]],
  )
  assert.equal(heights.length, 3)
})

test('arrow keys walk over groups, and stop at the ends', () => {
  const to = (id: string, key: string) => stepTo(TWO, id, key, 3)
  assert.equal(to('a6', 'ArrowRight'), 'b0')
  assert.equal(to('b0', 'ArrowLeft'), 'a6')
  assert.equal(to('a0', 'ArrowLeft'), 'a0')
  assert.equal(to('a1', 'ArrowDown'), 'a4')
  assert.equal(to('a5', 'ArrowDown'), 'a6')
  assert.equal(to('a6', 'ArrowDown'), 'b0')
  assert.equal(to('b1', 'ArrowUp'), 'a6')
  assert.equal(to('b1', 'ArrowDown'), 'b1')
  assert.equal(to('a1', 'ArrowUp'), 'a1')
  assert.equal(to('a4', 'Home'), 'a3')
  assert.equal(to('a3', 'End'), 'a5')
  assert.equal(to('a4', 'PageDown'), 'b0')
  assert.equal(to('b1', 'PageUp'), 'b0')
  assert.equal(to('b0', 'PageUp'), 'a0')
})

test('a survey counts states without the filter of the state, and what each filter leaves out', () => {
  const machines = [
    named('1', { class: 'gpu-h100', state: 'free' }),
    named('2', { class: 'gpu-h100', state: 'taken' }),
    named('3', { class: 'cpu', state: 'free' }),
    named('4', { class: 'cpu', state: 'taken' }),
  ]
  const context = { now: 0, traits: [], instantIn: () => null }
  const found = survey(machines, matcherOf(filtersIn({ class: 'gpu-*', state: 'free' }), context))
  assert.deepEqual(
    found.shown.map(({ uuid }) => uuid),
    ['1'],
  )
  assert.deepEqual(
    [...found.states],
    [
      ['free', 1],
      ['taken', 1],
    ],
  )
  assert.equal(found.of, 2)
  assert.deepEqual(
    [...found.without],
    [
      ['state', 1],
      ['class', 1],
    ],
  )
})

test('a class without a free machine says when the next one ends', () => {
  const waiting = { class: 'gpu', state: 'waiting' } as Parameters<typeof classesOf>[1][number]
  const machines = [
    named('1', { class: 'gpu', state: 'taken', until: '2026-11-16T02:00:00Z' }),
    named('2', { class: 'gpu', state: 'held', until: '2026-11-16T01:00:00Z' }),
    named('3', { class: null, state: 'free' }),
    named('4', { class: 'cpu', state: 'free' }),
    named('5', { class: 'cpu', state: 'taken', until: '2026-11-16T01:00:00Z' }),
  ]
  const classes = classesOf(machines, [waiting, { ...waiting, state: 'gave up' }])
  assert.deepEqual(
    classes.map(({ name, free, nextEnd, waiting }) => [name, free, nextEnd, waiting]),
    [
      ['cpu', 1, null, 0],
      ['gpu', 0, '2026-11-16T01:00:00Z', 1],
      [null, 1, null, 0],
    ],
  )
})

test('states: the common ones always, others if they occur or are asked for', () => {
  const shown = statesShown(
    new Map([
      ['working', 1],
      ['odd', 2],
    ]),
    ['retired'],
  )
  assert.deepEqual(shown, ['free', 'booked', 'held', 'taken', 'working', 'maintenance', 'broken', 'retired', 'odd'])
})
