// As many seeds of the simulator as there are pairs of mixes and faults: each mix meets each of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MIXES as FAULTS } from '../../simulator/faults.ts'
import { MIXES } from '../../simulator/mixes.ts'
import { simulate } from '../support/simulate.ts'

const SEEDS = Object.keys(MIXES).length * Object.keys(FAULTS).length

void test('each mix of clients is served through each kind of faults', async () => {
  const { code, printed, said } = await simulate('--seed', '1000', '--seeds', String(SEEDS), '--load', '2')
  assert.equal(code, 0, printed + said)
  assert.match(printed, new RegExp(`^${SEEDS} of ${SEEDS} seeds are green: `, 'm'))
})
