import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bell } from './bell.ts'
import { openStore } from './open.ts'
import { wake } from './transaction.ts'

test('any number may listen to the bell; one that throws stops neither the others nor the caller', async () => {
  const store = openStore('sqlite::memory:')
  const failures: unknown[] = []
  const heard: string[] = []
  const bell = new Bell(store, error => failures.push(error))
  bell.listen(() => {
    throw new Error('not now')
  })
  bell.listen(topic => heard.push(topic))
  await store.write(() => wake('nodes'))
  await store.settled()
  bell.heard(['any'])
  bell.stop()
  await store.write(() => wake('leases'))
  assert.deepEqual(heard, ['nodes', 'any'])
  assert.equal(failures.length, 2)
  await store.close()
})
