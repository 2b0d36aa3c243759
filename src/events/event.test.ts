import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonText } from '../shared/json.ts'
import type { Subject } from '../store/transaction.ts'
import { BEGINNING, cloudEventOf, cursorIn, eventsOf, isAfter, textOf } from './event.ts'

const cursor = fc.record({ sequence: fc.nat(1e6), part: fc.nat(20) }, { noNullPrototype: true })
const row = (...subjects: Subject[]) => ({
  at: Date.UTC(2026, 10, 15),
  user_id: 'alice',
  project_id: 'lab',
  request_id: 'req-1',
  objects: jsonText<readonly Subject[]>(subjects),
})

test('a cursor is read as it was written', () => {
  fc.assert(fc.property(cursor, one => assert.deepEqual(cursorIn(textOf(one)), one)))
  assert.equal(textOf({ sequence: 184_467, part: 0 }), '184467')
  assert.equal(textOf({ sequence: 184_467, part: 1 }), '184467.1')
})

test('what is no cursor is none', () => {
  for (const text of ['', 'x', '-1', '1.', '.1', '1.-1', '1e3', '1 ', ' 1', '1.1.1', '٣', '1'.repeat(16), '1\n']) {
    assert.equal(cursorIn(text), null, JSON.stringify(text))
  }
})

test('places are in one order: by entry, then by event', () => {
  fc.assert(
    fc.property(cursor, cursor, (a, b) => {
      const [x, y] = [a, b].map(({ sequence, part }) => sequence * 100 + part)
      assert.equal(isAfter(a, b), x! > y!)
      assert.ok(isAfter(a, BEGINNING))
    }),
  )
})

test('an entry has an event for each object of which it is said what became, numbered in a row', () => {
  const events = eventsOf(
    7,
    row(
      { kind: 'node', id: 'n', became: 'changed', whose: { owner: 'lab' }, data: { name: 'n1' } },
      { kind: 'node', id: 'silent' },
      { kind: 'trait', id: 'T', became: 'changed' },
      { kind: 'reservation', id: 'h', became: 'created' },
    ),
  )
  assert.deepEqual(
    events.map(({ kind, object, sequence, part }) => [kind, object, sequence, part]),
    [
      ['node', 'n', 7, 0],
      ['hold', 'h', 7, 1],
    ],
  )
  assert.deepEqual(events[0]!.data, { name: 'n1' })
  assert.deepEqual(events[1]!.whose, {})
})

test('an event is told as a CloudEvent', () => {
  const [event] = eventsOf(
    7,
    row({ kind: 'node', id: 'n', became: 'changed', whose: { owner: 'lab' }, data: { a: 1 } }),
  )
  assert.deepEqual(cloudEventOf(event!, '/holdfast/lab'), {
    specversion: '1.0',
    id: '7',
    source: '/holdfast/lab',
    type: 'holdfast.node.changed',
    subject: 'node/n',
    time: '2026-11-15T00:00:00.000Z',
    datacontenttype: 'application/json',
    sequence: '7',
    projectid: 'lab',
    data: { a: 1, by: { user: 'alice', project: 'lab', request: 'req-1' } },
  })
})
