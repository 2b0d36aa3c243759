// How node classes become Placement's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placementClass } from './class-names.ts'

void test('a class is upper case, with _ for all that Placement does not take', () => {
  assert.equal(placementClass('baremetal'), 'CUSTOM_BAREMETAL')
  assert.equal(placementClass('gpu-a.100 x'), 'CUSTOM_GPU_A_100_X')
  assert.match(placementClass('größe'), /^CUSTOM_[A-Z0-9_]+$/)
  assert.equal(placementClass(null), 'CUSTOM_NODE')
})
