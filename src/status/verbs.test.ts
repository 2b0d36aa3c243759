import assert from 'node:assert/strict'
import { test } from 'node:test'
import { promiseVerbs, type Situation, verbsIn } from './verbs.ts'

const FREE: Situation = {
  provision: 'available',
  word: 'free',
  isInMaintenance: false,
  isRetired: false,
  isProtected: false,
  isBookable: false,
  hasInstance: false,
  hasClass: true,
  isHeld: false,
  kind: null,
  hasEnd: false,
}
const TAKEN = { word: 'taken', hasInstance: true, kind: 'allocation', hasEnd: true } as const

/** What differs from a free machine, and the verbs that can be used then. */
const TABLE: readonly (readonly [Partial<Situation>, string])[] = [
  [{}, 'manage deploy power boot maintenance note traits bookable delete allocate reserve'],
  [{ isBookable: true }, 'manage power boot maintenance note traits bookable delete allocate book'],
  [{ isBookable: true, word: 'booked' }, 'manage power boot maintenance note traits bookable delete allocate book'],
  [{ hasClass: false }, 'manage deploy power boot maintenance note traits bookable delete'],
  [{ provision: 'enroll', word: 'setup' }, 'manage power boot maintenance note traits bookable delete'],
  [
    { provision: 'manageable', word: 'setup' },
    'provide inspect clean adopt power boot maintenance note traits bookable delete',
  ],
  [
    { provision: 'manageable', word: 'retired', isRetired: true },
    'inspect clean adopt power boot maintenance note traits bookable delete',
  ],
  [{ word: 'maintenance', isInMaintenance: true }, 'power boot maintenance note traits bookable delete'],
  [{ word: 'held', isHeld: true, kind: 'hold', hasEnd: true }, 'manage power boot maintenance note traits bookable'],
  [{ provision: 'cleaning', word: 'working' }, 'maintenance note traits bookable'],
  [{ provision: 'clean wait', word: 'working' }, 'abort maintenance note traits bookable'],
  [{ ...TAKEN }, 'manage deploy power boot maintenance note traits bookable'],
  [{ ...TAKEN, provision: 'active' }, 'rebuild undeploy rescue power boot maintenance note traits bookable'],
  [{ ...TAKEN, provision: 'active', isProtected: true }, 'rescue power boot maintenance note traits bookable'],
  [
    { ...TAKEN, provision: 'deploy failed', word: 'broken' },
    'deploy rebuild undeploy power boot maintenance note traits bookable',
  ],
  [{ word: 'taken', kind: 'claim' }, 'manage power boot maintenance note traits bookable'],
]

for (const [differs, verbs] of TABLE) {
  test(`${JSON.stringify(differs)}: ${verbs}`, () => {
    const usable = verbsIn({ ...FREE, ...differs }).filter(([, whyNot]) => whyNot === null)
    assert.equal(usable.map(([verb]) => verb).join(' '), verbs)
  })
}

test('what has no end can not be extended, and only leases move', () => {
  assert.deepEqual(promiseVerbs({ kind: 'allocation', hasEnd: true }), ['extend', 'note', 'release'])
  assert.deepEqual(promiseVerbs({ kind: 'allocation', hasEnd: false }), ['note', 'release'])
  assert.deepEqual(promiseVerbs({ kind: 'hold', hasEnd: true }), ['extend', 'release'])
  assert.deepEqual(promiseVerbs({ kind: 'lease', hasEnd: true }), ['extend', 'move', 'release'])
  assert.deepEqual(promiseVerbs({ kind: 'server', hasEnd: false }), ['release'])
  assert.deepEqual(promiseVerbs({ kind: 'instance', hasEnd: false }), [])
})
