import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonIn } from '../shared/json.ts'
import { SUBJECTS } from '../store/schema/json-columns.ts'
import type { Subject } from '../store/transaction.ts'
import { type Entry, rowOf } from './entry.ts'

const ENTRY: Entry = {
  at: 5,
  requestId: 'req-1',
  user: 'me',
  project: 'mine',
  roles: 'admin',
  address: '::1',
  action: 'x',
  outcome: 'accepted',
}
const objectsOf = (...subjects: Subject[]) => jsonIn(rowOf(ENTRY, subjects).objects, SUBJECTS)

test('an object that a transaction changes twice is listed once, from its first generation to its last', () => {
  assert.deepEqual(
    objectsOf(
      { kind: 'node', id: 'a', before: 1, after: 2 },
      { kind: 'node', id: 'b', before: 7, after: 8 },
      { kind: 'node', id: 'a', before: 2, after: 3 },
    ),
    [
      { kind: 'node', id: 'a', before: 1, after: 3 },
      { kind: 'node', id: 'b', before: 7, after: 8 },
    ],
  )
})

test('an object made anew keeps that it was not there before', () => {
  assert.deepEqual(
    objectsOf({ kind: 'node', id: 'a', before: null, after: 1 }, { kind: 'node', id: 'a', before: 1, after: 2 }),
    [{ kind: 'node', id: 'a', before: null, after: 2 }],
  )
})

test('each thing that became of an object stays, in its order; the same thing in a row is told once, as it ended', () => {
  const became = (id: string, what: string, count: number) => ({
    kind: 'allocation',
    id,
    became: what,
    data: { count },
  })
  assert.deepEqual(
    objectsOf(
      became('a', 'created', 1),
      became('a', 'waiting', 2),
      became('a', 'waiting', 3),
      became('a', 'created', 4),
    ),
    [became('a', 'created', 1), became('a', 'waiting', 3), became('a', 'created', 4)],
  )
})

test('a mark that says nothing new about an object doesn’t take away what became of it', () => {
  const active = { kind: 'allocation', id: 'a', became: 'active', whose: { project: 'p' }, data: { node: 'n' } }
  assert.deepEqual(objectsOf(active, { kind: 'allocation', id: 'a', before: 1, after: 2 }), [
    { ...active, before: 1, after: 2 },
  ])
  assert.deepEqual(objectsOf({ kind: 'allocation', id: 'a', before: 1, after: 2 }, active), [
    { ...active, before: 1, after: 2 },
  ])
})

test('objects of two kinds with one id are two', () => {
  assert.equal(objectsOf({ kind: 'node', id: 'a' }, { kind: 'server', id: 'a' }).length, 2)
})
