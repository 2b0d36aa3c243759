import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonText } from '../shared/json.ts'
import { placeOf } from './place.ts'

const BARE = { name: 'rack-a01-06', extra: jsonText({}), chassis_extra: null, chassis_description: null }

const TABLE: readonly (readonly [string, Partial<typeof BARE> | object, string | null, string | null])[] = [
  ['nothing is guessed from a name', {}, null, null],
  ['the node says it', { extra: jsonText({ rack: 'r7', slot: 3 }) }, 'r7', '3'],
  ['the slot follows the rack in the name', { extra: jsonText({ rack: 'rack-a01' }) }, 'rack-a01', '06'],
  ['the chassis says it', { chassis_extra: jsonText({ rack: 'rack-a01' }) }, 'rack-a01', '06'],
  ['the description of the chassis, up to a colon', { chassis_description: 'rack-a01: GPUs' }, 'rack-a01', '06'],
  ['the node comes first', { extra: jsonText({ rack: 'x' }), chassis_description: 'y' }, 'x', null],
  ['a node without a name', { name: null, chassis_description: 'y' }, 'y', null],
  [
    'what is no word is no rack',
    { extra: jsonText({ rack: { a: 1 }, slot: '' }), chassis_description: ' : ' },
    null,
    null,
  ],
]

for (const [what, standing, rack, slot] of TABLE) {
  test(what, () => assert.deepEqual(placeOf({ ...BARE, ...standing }), { rack, slot }))
}
