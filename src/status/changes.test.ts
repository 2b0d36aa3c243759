import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../shared/limits.ts'
import { Changes } from './changes.ts'

const machine = (uuid: string) => ({ uuid, owner: 'p', lessee: null })

void test('says what departed after a version, and that it does not know it all when there was too much', () => {
  const changes = new Changes()
  changes.depart(machine('a'))
  const { version } = changes
  changes.grow()
  changes.depart(machine('b'))
  assert.deepEqual(
    changes.departedAfter(version)!.map(({ uuid }) => uuid),
    ['b'],
  )
  assert.deepEqual(changes.departedAfter(changes.version), [])
  assert.equal(changes.departedAfter(changes.version + 1), null)
  for (let i = 0; i < limits.statusDepartedMax - 1; i++) changes.depart(machine(`${i}`))
  // The first is forgotten: whoever has seen it still knows all of the rest.
  assert.equal(changes.departedAfter(version - 1), null)
  assert.equal(changes.departedAfter(version)!.length, limits.statusDepartedMax)
})
