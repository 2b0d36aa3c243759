import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isGroup, lineAfter, linesOf, subjectOf } from './lines.ts'
import { between, markOf } from './selection.ts'

const group = (key: string, ids: string[]) => ({
  key,
  name: key,
  short: key,
  prefix: '',
  kind: 'machines' as const,
  ids,
})
const LAYOUT = { question: '', groups: [group('a', ['1', '2']), group('b', ['3'])] }

test('lines: a head for each group, and no machines of a folded one', () => {
  const lines = linesOf(LAYOUT, new Set(['a']), true)
  assert.deepEqual(
    lines.map(line => [isGroup(line), subjectOf(line)]),
    [
      [true, 'a'],
      [true, 'b'],
      [false, '3'],
    ],
  )
  assert.deepEqual(linesOf(LAYOUT, new Set(['a']), false).map(subjectOf), ['1', '2', '3'])
})

test('keys lead from line to line, and stop at the ends', () => {
  const lines = linesOf(LAYOUT, new Set(), false)
  const to = (line: string | null, key: string) => subjectOf(lineAfter(lines, line, key, 2)!)
  assert.equal(to(null, 'ArrowDown'), '1')
  assert.equal(to(lines[0]!, 'ArrowDown'), '2')
  assert.equal(to(lines[0]!, 'ArrowUp'), '1')
  assert.equal(to(lines[0]!, 'PageDown'), '3')
  assert.equal(to(lines[1]!, 'End'), '3')
  assert.equal(to('gone', 'End'), '1')
})

test('a group is selected as a whole, in part, or not', () => {
  assert.equal(markOf(['1', '2'], new Set(['1', '2', '3'])), 'all')
  assert.equal(markOf(['1', '2'], new Set(['1'])), 'some')
  assert.equal(markOf(['1', '2'], new Set(['3'])), 'none')
  assert.equal(markOf([], new Set(['3'])), 'none')
})

test('a range goes either way; one whose beginning is gone is its end alone', () => {
  const all = ['1', '2', '3', '4']
  assert.deepEqual(between(all, '2', '4'), ['2', '3', '4'])
  assert.deepEqual(between(all, '4', '2'), ['2', '3', '4'])
  assert.deepEqual(between(all, 'gone', '2'), ['2'])
  assert.deepEqual(between(all, '2', 'gone'), [])
})
