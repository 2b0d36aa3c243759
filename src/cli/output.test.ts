import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visible } from './output.ts'

test('what others wrote controls no terminal, and stays in its line and its order', () => {
  assert.equal(visible('a\u001b[2Jb\u009b31mc'), 'a\ufffd[2Jb\ufffd31mc')
  assert.equal(visible('one\r\n\ttwo\u2028three'), 'one two three')
  assert.equal(visible('bob\u202enimda\u2066 \u200f'), 'bob\ufffdnimda\ufffd \u200f')
  assert.equal(visible('família 👩‍🚀 עברית'), 'família 👩‍🚀 עברית')
})
