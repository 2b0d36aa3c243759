import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bell } from './bell.ts'
import { openStore } from './open.ts'

test('any number may listen to the bell; one that throws stops neither the others nor the caller', async () => {
  const store = openStore('sqlite::memory:')
  const failures: unknown[] = []
  const heard: string[] = []
  const bell = new Bell(store, error => failures.push(error))
  await bell.listen(() => {
    throw new Error('not now')
  })
  await bell.listen(topic => heard.push(topic))
  bell.ring('nodes')
  bell.ring()
  bell.stop()
  bell.ring('leases')
  assert.deepEqual(heard, ['nodes', 'any'])
  assert.equal(failures.length, 2)
  await store.close()
})
