import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../shared/limits.ts'
import { type ClaimRequest, isLong, sizeOfBatch, weightOf } from './claim.ts'

const claim = (...classes: number[]): ClaimRequest => ({
  kind: 'replace',
  owner: null,
  consumers: [
    {
      consumer: 'c',
      projectId: 'p',
      userId: 'u',
      type: 'T',
      generation: null,
      resources: new Map(
        classes.map((count, i) => [String(i), new Map(Array.from({ length: count }, (_, at) => [`C${at}`, 1]))]),
      ),
    },
  ],
})
const waiting = (...weights: number[]) => weights.map(weight => ({ weight }))

test('a request weighs as many rows as it names, and one at least', () => {
  assert.equal(weightOf({ kind: 'release', consumer: 'c', owner: null }), 1)
  assert.equal(weightOf(claim()), 1)
  assert.equal(weightOf(claim(1)), 1)
  assert.equal(weightOf(claim(2, 3)), 5)
})

test('a batch has as many requests and rows as it may, and always one', () => {
  const { claimBatchMax: most, claimBatchRowsMax: rows } = limits
  assert.equal(sizeOfBatch([]), 0)
  assert.equal(sizeOfBatch(waiting(rows + 1, 1)), 1)
  assert.equal(sizeOfBatch(waiting(rows - 1, 1)), 2)
  assert.equal(sizeOfBatch(waiting(rows - 1, 1, 1)), 2)
  assert.equal(sizeOfBatch(waiting(rows - 1, 2)), 1)
  assert.equal(sizeOfBatch(waiting(...Array.from({ length: most + 1 }, () => 1))), Math.min(most, rows))
  assert.deepEqual(
    [rows, rows + 1].map(weight => isLong({ weight })),
    [false, true],
  )
})
