import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireKeptPromise } from './keeping.ts'

const KEEPER = 'alice/0123456789abcdef'
const KEPT = {
  uuid: 'a1',
  name: null,
  state: 'active',
  keeper: KEEPER,
  expires_at: 1_000,
  kept_until: null,
  ending_by: null,
  ending_at: null,
  ending_message: null,
} as const
const ENDING = { ...KEPT, ending_by: 'bob', ending_at: 500 }

void test('what someone ends is not renewed, also when its time is over and it could not be ended yet', () => {
  for (const now of [900, 1_000, 5_000]) {
    for (const keeper of [KEEPER, null]) {
      assert.throws(() => requireKeptPromise(ENDING, 9_000, keeper, now), /bob ends allocation a1/)
    }
    assert.doesNotThrow(() => requireKeptPromise(KEPT, 9_000, KEEPER, now))
    assert.doesNotThrow(() => requireKeptPromise(ENDING, 1_000, null, now), 'the end stays')
    assert.doesNotThrow(() => requireKeptPromise(ENDING, 950, KEEPER, now))
  }
})
