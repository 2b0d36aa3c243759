import assert from 'node:assert/strict'
import { test } from 'node:test'
import { likePattern } from './server-query.ts'

test('a name matches anywhere, unless it is anchored', () => {
  assert.equal(likePattern('web'), '%web%')
  assert.equal(likePattern('^web'), 'web%')
  assert.equal(likePattern('web$'), '%web')
  assert.equal(likePattern('^web.*1$'), 'web%1')
})

test('everything else is literal', () => {
  assert.equal(likePattern('a_b%c\\d'), '%a\\_b\\%c\\\\d%')
  assert.equal(likePattern('(a+)+'), '%(a+)+%')
  assert.equal(likePattern(''), '%%')
})
