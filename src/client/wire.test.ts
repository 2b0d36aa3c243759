import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WrongUse } from './errors.ts'
import { segment } from './wire.ts'

test('a name stays one part of a path: what would mean the thing above is refused', () => {
  for (const name of ['', '.', '..']) assert.throws(() => segment(name), WrongUse)
  for (const name of ['...', '../x', '%2e%2e', 'a/b', '\u202e', '?']) {
    assert.equal(new URL(`http://lab/nodes/n1/traits/${segment(name)}`).pathname.split('/').length, 5)
  }
})
