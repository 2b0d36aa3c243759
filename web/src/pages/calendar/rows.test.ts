import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine, StatusHost } from '../../../../src/client/status.ts'
import { changesBetween, type Folds, type Row, rowsOf, sameRows } from './rows.ts'

const machine = (uuid: string, more: Partial<Machine> = {}) =>
  ({
    uuid,
    name: uuid,
    class: 'gpu',
    rack: 'a01',
    state: 'free',
    bookable: true,
    kind: null,
    next: null,
    ...more,
  }) as Machine
const NO_FOLDS: Folds = { open: new Map(), quiet: new Set() }
const wanted = { rows: 'class,rack', folds: NO_FOLDS, only: null } as const
const keys = (rows: readonly Row[]) => rows.map(({ key }) => key)

const fleet = [
  machine('1'),
  machine('2', { rack: 'a02', bookable: false }),
  machine('3', { class: 'cpu', bookable: false, kind: 'allocation', state: 'taken' }),
  machine('4', { bookable: false }),
]

test('classes, racks in them, machines in these; quiet ones are folded', () => {
  assert.deepEqual(keys(rowsOf(fleet, [], wanted)), [
    '/class cpu',
    '/class cpu/rack a01',
    'm 3',
    '/class gpu',
    '/class gpu/rack a01',
    'm 1',
    '/class gpu/rack a02',
  ])
})

test('a group shows its quiet machines when asked, and says how many there are', () => {
  const folds: Folds = { open: new Map(), quiet: new Set(['/class gpu/rack a01']) }
  const rows = rowsOf(fleet, [], { ...wanted, folds })
  const rack = rows.find(({ key }) => key === '/class gpu/rack a01')
  assert.ok(rack?.kind === 'group' && rack.quiet === 1 && rack.showsQuiet && rack.bookable === 1)
  assert.ok(keys(rows).includes('m 4'))
})

test('what was folded stays folded, also around groups', () => {
  const folds: Folds = { open: new Map([['/class gpu', false]]), quiet: new Set() }
  assert.deepEqual(keys(rowsOf(fleet, [], { ...wanted, folds })).slice(-1), ['/class gpu'])
})

test('machines that are broken, kept out of use, taken or booked are not quiet', () => {
  const loud = [
    machine('1', { bookable: false, state: 'broken' }),
    machine('2', { bookable: false, state: 'maintenance' }),
    machine('3', { bookable: false, next: {} as Machine['next'] }),
  ]
  assert.equal(rowsOf(loud, [], wanted).length, 2 + 3)
})

test('while a booking is composed only the machines that matter are shown', () => {
  assert.deepEqual(keys(rowsOf(fleet, [], { ...wanted, rows: 'rack', only: new Set(['2']) })), [
    '/rack a01',
    '/rack a02',
    'm 2',
  ])
})

test('many machines are folded at first', () => {
  const many = Array.from({ length: 500 }, (_, at) => machine(String(at)))
  assert.equal(rowsOf(many, [], wanted).length, 2)
  assert.equal(rowsOf(many, [], { ...wanted, rows: 'machine' }).length, 500)
})

test('machines without a rack come last', () => {
  const rows = rowsOf([machine('1', { rack: null }), machine('2')], [], { ...wanted, rows: 'rack' })
  assert.deepEqual(keys(rows), ['/rack a01', 'm 2', '/rack ', 'm 1'])
})

test('hosts have rows of their own', () => {
  assert.deepEqual(keys(rowsOf(fleet, [{ uuid: 'x' } as StatusHost], { ...wanted, rows: 'host' })), ['h x'])
})

test('the same rows are known as the same, and changes are counted', () => {
  const before = rowsOf(fleet, [], wanted)
  assert.ok(sameRows(before, rowsOf(fleet, [], wanted)))
  const after = rowsOf([...fleet, machine('5')], [], wanted)
  assert.ok(!sameRows(before, after))
  assert.equal(changesBetween(before, after), 1)
})
