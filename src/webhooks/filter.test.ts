import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isQuiet, KINDS, type EventKind } from '../events/kinds.ts'
import { kindsOf } from './filter.ts'
import { typesText } from './webhooks.ts'

const kinds = (...types: string[][]) => [...kindsOf(types.map(some => ({ types: typesText(some) })))].toSorted()
const every = Object.keys(KINDS) as EventKind[]
const usual = every.filter(kind => !isQuiet(kind))

test('a webhook without types wants every kind but those that only come to who asks for them', () => {
  const quiet = every.filter(isQuiet)
  assert.ok(quiet.length > 0 && usual.length > 0)
  assert.deepEqual(kinds([]), usual.toSorted())
  assert.deepEqual(kinds([quiet[0]!]), [quiet[0]])
})

test('what several want is all that one of them wants', () => {
  assert.deepEqual(kinds(['node'], ['lease.started', 'lease.ended']), ['lease', 'node'])
  assert.deepEqual(kinds(['node'], []), usual.toSorted())
  assert.deepEqual(kinds(), [])
})
