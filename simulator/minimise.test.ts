import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minimise } from './minimise.ts'
import type { Result } from './simulation.ts'

const result = (faults: number, findings: Result['findings']): Result => ({
  seed: 1,
  findings,
  hash: '',
  faults,
  steps: 0,
  commits: 0,
  virtualMs: 0,
  realMs: 0,
  cpuMs: 0,
  story: [],
})

void test('only the faults that a finding needs are kept', async () => {
  let runs = 0
  const finds = async (leftOut: ReadonlySet<number>) => {
    runs++
    const isThere = !leftOut.has(2) && !leftOut.has(5)
    return result(8, isThere ? [{ check: 'fsck', text: 'claims: 3' }] : [{ check: 'other', text: 'something else' }])
  }
  const { kept } = await minimise(result(8, [{ check: 'fsck', text: 'claims: 1' }]), finds)
  assert.deepEqual(kept, [2, 5])
  assert.ok(runs < 30)
})

void test('a finding that needs no fault keeps none', async () => {
  const found = result(4, [{ check: 'crash', text: 'always' }])
  assert.deepEqual((await minimise(found, async () => found)).kept, [])
})
