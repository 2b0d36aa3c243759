import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readToken, type TokenFacts, writeToken } from './token-text.ts'

const KEY = Buffer.alloc(32, 1)
const FACTS: TokenFacts = {
  id: 'a',
  user: 'älice',
  stamp: 's',
  project: 'lab',
  system: false,
  methods: ['password'],
  credential: null,
  issuedAt: 1,
  expiresAt: 2,
}

test('a token keeps its facts, whatever the names are', () => {
  fc.assert(
    fc.property(fc.string(), fc.option(fc.string()), (user, project) => {
      const facts = { ...FACTS, user, project }
      assert.deepEqual(readToken(writeToken(facts, KEY), KEY), facts)
    }),
  )
  const credential = { id: 'c', roles: ['reader' as const], unrestricted: false }
  assert.deepEqual(readToken(writeToken({ ...FACTS, credential }, KEY), KEY), { ...FACTS, credential })
})

test('a token that was changed anywhere, or signed with another key, is refused', () => {
  const text = writeToken(FACTS, KEY)
  assert.equal(readToken(text, Buffer.alloc(32, 2)), null)
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.constantFrom('A', 'Z', 'a', 'z', '0', '9', '-', '_', '.'), (at, letter) => {
      const changed = text.slice(0, at) + letter + text.slice(at + 1)
      assert.equal(readToken(changed, KEY) === null, changed !== text)
    }),
  )
  fc.assert(fc.property(fc.string(), other => readToken(other, KEY) === null))
  for (const other of ['', '.', 'x', `${text}=`, `${text}.`, ` ${text}`, text.split('.')[0]!]) {
    assert.equal(readToken(other, KEY), null)
  }
})
