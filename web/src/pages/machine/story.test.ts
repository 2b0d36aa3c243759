import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Past } from '../../../../src/client/status.ts'
import { storyOf, stretchesOf } from './story.ts'

const past = (what: string, more: Partial<Past> = {}): Past => ({
  at: '2026-11-16T11:00:00Z',
  what,
  to: null,
  name: null,
  who: 'bob',
  project: 'nlp',
  request: null,
  reason: null,
  output: null,
  ...more,
})
const said = (one: Past) => {
  const { who, words, strong } = storyOf(one)
  return [who, words, strong].filter(part => part !== null).join(' ')
}

test('what happened is a sentence, also where nobody may be named', () => {
  assert.equal(said(past('node provision_state', { to: 'deploying' })), 'bob asked to deploy')
  assert.equal(said(past('node provision_state', { to: 'active' })), 'bob made it active')
  assert.equal(said(past('node provision_state', { to: 'deploying', who: null })), 'became deploying')
  assert.equal(said(past('node power_state', { to: 'power on' })), 'bob switched it on')
  assert.equal(
    said(past('node power_state', { to: 'power on', who: 'conductor', request: 'r' })),
    'conductor switched it on',
  )
  assert.equal(said(past('node power_state', { to: 'power on', who: 'conductor' })), 'conductor found it on')
  assert.equal(said(past('node power_state', { who: 'conductor' })), 'conductor can’t read its power')
  assert.equal(said(past('node maintenance', { to: 'maintenance' })), 'bob put it into maintenance')
  assert.equal(said(past('node maintenance')), 'bob took it out of maintenance')
  assert.equal(said(past('allocation active', { name: 'job' })), 'bob got it for job')
  assert.equal(said(past('allocation active', { who: null })), 'someone got it')
  assert.equal(said(past('node something_new', { who: null })), 'something new')
  assert.equal(storyOf(past('node provision_state', { to: 'clean failed' })).glyph, 'broken')
})

test('a failure has its reason, and a hook says what it did', () => {
  const failed = past('node provision_state', { to: 'clean failed', who: null, reason: 'the disk is worn' })
  assert.deepEqual([said(failed), storyOf(failed).why], ['became clean failed', 'the disk is worn'])
  const hook = past('node hook', { who: null, reason: 'return: done', output: 'wiped /home' })
  assert.deepEqual([said(hook), storyOf(hook).why], ['driver:', 'return: done'])
})

test('who had it is told in stretches, newest first; what began before the log has no start', () => {
  const history = [
    past('allocation active', { at: '3', name: 'c' }),
    past('allocation ended', { at: '2', name: 'b' }),
    past('node changed'),
    past('allocation active', { at: '1', name: 'b' }),
    past('allocation ended', { at: '0', name: 'a' }),
  ]
  assert.deepEqual(
    stretchesOf(history).map(({ name, from, to }) => [name, from, to]),
    [
      ['c', '3', null],
      ['b', '1', '2'],
      ['a', null, '0'],
    ],
  )
})
