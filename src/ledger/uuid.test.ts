import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalUuid } from './uuid.ts'

const UUID = '4e8e5957-649f-477b-9e5b-f1f75b21c03c'

test('a UUID may come in capitals, without dashes, in braces or as a urn', () => {
  for (const form of [UUID, UUID.toUpperCase(), UUID.replaceAll('-', ''), `{${UUID}}`, `urn:uuid:${UUID}`]) {
    assert.equal(canonicalUuid(form), UUID)
  }
})

test('anything else is no UUID', () => {
  for (const text of ['', 'x', UUID.slice(1), `${UUID}0`, UUID.replace('4', 'g')])
    assert.equal(canonicalUuid(text), null)
})
