import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VerbOf } from '../../../../src/client/status.ts'
import { pathOf } from './path.ts'

const verb = (name: string, whyNot: string | null = null): VerbOf => ({
  verb: name,
  may: whyNot === null,
  why_not: whyNot,
})

test('verbs can be used only under the state that it is in, and what is forbidden is absent', () => {
  const path = pathOf('available', [
    verb('deploy'),
    verb('manage', 'It is taken.'),
    verb('provide', 'Not in state available.'),
    verb('clean', 'You may not.'),
  ])
  assert.deepEqual(
    path.map(({ state, isHere, verbs }) => [state, isHere, verbs.map(({ verb: name, whyNot }) => [name, whyNot])]),
    [
      ['enroll', false, [['manage', 'only from enroll']]],
      ['manageable', false, [['provide', 'only from manageable']]],
      [
        'available',
        true,
        [
          ['deploy', null],
          ['manage', 'It is taken.'],
        ],
      ],
      ['active', false, []],
    ],
  )
})

test('a state beside the way is a step of its own, with what helps', () => {
  const path = pathOf('clean failed', [verb('manage'), verb('provide', 'Not in state clean failed.'), verb('power')])
  const here = path.findIndex(({ isHere }) => isHere)
  assert.equal(path[here - 1]!.state, 'manageable')
  assert.deepEqual(path[here], {
    state: 'clean failed',
    isHere: true,
    isFailed: true,
    verbs: [{ verb: 'manage', whyNot: null }],
  })
})
