// A few seeds of the simulator, each with its own mix and faults. More of them: all-pairs.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from '../support/simulate.ts'

void test('seeds of several mixes are green', async () => {
  const { code, printed, said } = await simulate('--seed', '1', '--seeds', '8', '--workers', '1', '--load', '2')
  assert.equal(code, 0, printed + said)
  assert.match(printed, /^8 of 8 seeds are green: /m)
})
