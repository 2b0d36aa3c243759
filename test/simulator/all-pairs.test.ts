// Each mix of clients meets each kind of faults: all pairs on the embedded store, where a seed is cheap, and on
// PostgreSQL as many as it takes for each mix and each kind to come by. All pairs there: npm run simulate.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MIXES as FAULTS } from '../../simulator/faults.ts'
import { EXACT } from '../../simulator/exact/mixes.ts'
import { MIXES } from '../../simulator/mixes.ts'
import { simulate } from '../support/simulate.ts'

const FIRST = 1000
const [mixes, faults] = [Object.keys(MIXES).length, Object.keys(FAULTS).length]

async function assertGreen(seeds: number, { from }: { from: number }, ...args: string[]): Promise<void> {
  const { code, printed, said } = await simulate('--seed', String(from), '--seeds', String(seeds), ...args)
  assert.equal(code, 0, printed + said)
  assert.match(printed, new RegExp(`^${seeds} of ${seeds} seeds are green: `, 'm'))
}

// One test for each kind, so that a slow machine shows where it is.
for (const [place, kind] of Object.keys(FAULTS).entries()) {
  void test(`on the embedded store each mix of clients is served through faults of the kind ${kind}`, () =>
    assertGreen(mixes, { from: FIRST + place * mixes }, '--store', 'sqlite', '--faults', kind, '--load', '1'))
}

void test('on PostgreSQL each mix of clients is served through some faults, and each kind of faults is met', () =>
  assertGreen(Math.max(mixes, faults), { from: FIRST }, '--every', String(mixes + 1), '--load', '2'))

for (const mix of Object.keys(EXACT)) {
  void test(`those who know each answer in advance find none that is wrong: ${mix}`, () =>
    assertGreen(6, { from: FIRST }, '--store', 'sqlite', '--mix', mix, '--faults', 'none', '--load', '6'))
}
