import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventKind } from '../events/kinds.ts'
import { sees } from './event-rights.ts'
import type { Action } from './policy.ts'

const READER = { user: 'bob', project: 'lab', roles: new Set(['reader']), systemScope: false }
/** As a file of rules that lets everyone read, but not see the things of all projects. */
const READS_OWN = { allows: (action: Action) => !action.endsWith(':list_all') }

test('where everyone may read, events are still about what is the own project’s, as in the APIs', () => {
  for (const kind of ['allocation', 'hold', 'node', 'lease', 'server', 'webhook'] satisfies EventKind[]) {
    const hears = (whose: object) => sees(READS_OWN, READER, { kind, whose })
    for (const whose of [{ project: 'lab' }, { owner: 'lab', lessee: null }, { owner: 'other', lessee: 'lab' }]) {
      assert.equal(hears(whose), true, kind)
    }
    for (const whose of [{}, { project: 'other' }, { owner: 'other', lessee: null }, { project: null }]) {
      assert.equal(hears(whose), false, kind)
    }
    assert.equal(sees(READS_OWN, { ...READER, project: null }, { kind, whose: { project: null } }), false)
    assert.equal(sees({ allows: () => true }, READER, { kind, whose: { project: 'other' } }), true)
  }
})
