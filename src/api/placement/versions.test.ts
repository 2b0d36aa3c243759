import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../problems/problem.ts'
import { negotiate } from './versions.ts'

const kindOf = (header: string) => {
  try {
    negotiate(header)
    return null
  } catch (error) {
    return error instanceof Problem ? error.kind : error
  }
}

test('a header that does not name Placement means the oldest version', () => {
  for (const header of [undefined, '', '1.10', 'compute 2.53', 'latest']) assert.equal(negotiate(header).minor, 0)
})

test('the last version for Placement counts, among other services and in upper or lower case', () => {
  assert.equal(negotiate('compute 2.53, placement 1.10').minor, 10)
  assert.equal(negotiate('placement 1.10, placement 1.11').minor, 11)
  assert.equal(negotiate('PLACEMENT  1.12').minor, 12)
  assert.equal(negotiate('placement latest').minor, 39)
})

test('an unreadable version is malformed, and one out of range is not acceptable', () => {
  for (const version of ['1.a', 'pony.horse', '1.2.3', '1', 'latest latest']) {
    assert.equal(kindOf(`placement ${version}`), 'malformed_request', version)
  }
  for (const version of ['0.5', '1.40', '2.0', '-1.0', '1.-1', '1.9999', '9999.0']) {
    assert.equal(kindOf(`placement ${version}`), 'version_not_acceptable', version)
  }
})

test('a version has what came with it and before it, and nothing that came later', () => {
  const { has } = negotiate('placement 1.28')
  assert.ok(has.consumerGeneration && has.trees)
  assert.ok(!has.nestedCandidates && !has.mappings)
})
