// Patches: what they do, and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyPatches, parsePatches } from './json-patch.ts'

const patched = (document: Record<string, unknown>, ...body: unknown[]) => applyPatches(document, parsePatches(body))
const refused = (...body: unknown[]) =>
  assert.throws(() => patched({ extra: { a: 1, l: [1] } }, ...body), { kind: 'invalid_parameter' })

void test('add, replace and remove of whole attributes and below', () => {
  const add = (path: string, value: unknown) => ({ op: 'add', path, value })
  assert.deepEqual(patched({ extra: {} }, add('/extra/a', 1)), { extra: { a: 1 } })
  assert.deepEqual(patched({ extra: { a: 1 } }, add('/extra/a', 2)), { extra: { a: 2 } })
  assert.deepEqual(patched({ extra: { a: { b: 1 } } }, add('/extra/a/c', 2)), { extra: { a: { b: 1, c: 2 } } })
  assert.deepEqual(patched({ name: 'x' }, { op: 'remove', path: '/name' }), { name: undefined })
  assert.deepEqual(patched({ extra: { l: [1, 3] } }, add('/extra/l/1', 2)), { extra: { l: [1, 2, 3] } })
  assert.deepEqual(patched({ extra: { l: [1] } }, add('/extra/l/-', 2)), { extra: { l: [1, 2] } })
  assert.deepEqual(patched({ extra: { l: [1, 2] } }, { op: 'remove', path: '/extra/l/0' }), { extra: { l: [2] } })
})

void test('the document itself stays as it was', () => {
  const document = { extra: { a: 1 } }
  patched(document, { op: 'remove', path: '/extra/a' })
  assert.deepEqual(document, { extra: { a: 1 } })
})

void test('other operations, bad paths and missing keys are refused', () => {
  for (const op of ['test', 'move', 'copy', 'ADD', null]) refused({ op, path: '/extra/a', value: 1 })
  for (const path of ['extra', '/', '/extra/', '/extra//a', '/ex tra', 7]) refused({ op: 'add', path, value: 1 })
  refused({ op: 'add', path: '/extra/b' })
  refused({ op: 'remove', path: '/extra/b' })
  refused({ op: 'replace', path: '/extra/b', value: 1 })
  refused({ op: 'add', path: '/extra/b/c', value: 1 })
  refused({ op: 'add', path: '/extra/l/7', value: 1 })
  refused({ op: 'remove', path: '/extra/l/1' })
  refused('add')
  assert.throws(() => parsePatches({}), { kind: 'invalid_parameter' })
})

void test('a key named __proto__ is a key', () => {
  const after = patched({ extra: {} }, { op: 'add', path: '/extra/__proto__', value: { polluted: true } })
  assert.equal((Object.prototype as Record<string, unknown>)['polluted'], undefined)
  assert.ok(Object.hasOwn(after['extra'] as object, '__proto__'))
})
