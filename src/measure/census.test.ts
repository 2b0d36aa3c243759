import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Census } from './census.ts'
import { StoreUnavailable } from '../store/failure.ts'
import type { Store } from '../store/store.ts'

function censusOn(read: () => Promise<unknown>) {
  let reads = 0
  const store = {
    read: () => {
      reads++
      return read()
    },
  } as unknown as Store
  return { census: new Census({ store, now: () => 0, silentMs: 1 }), reads: () => reads }
}

test('many requests at once cause one count', async () => {
  const { census, reads } = censusOn(async () => [{ name: 'holdfast_nodes_at_work', value: 3 }])
  const told = await Promise.all(Array.from({ length: 10 }, () => census.samples()))
  assert.deepEqual(told[9], [{ name: 'holdfast_nodes_at_work', value: 3 }])
  await census.samples()
  assert.equal(reads(), 1)
})

test('there are no samples when the database is away, and the next request does not wait for it', async () => {
  const { census, reads } = censusOn(() => Promise.reject(new StoreUnavailable('away')))
  assert.equal(await census.samples(), null)
  assert.equal(await census.samples(), null)
  assert.equal(reads(), 1)
})

test('a request does not wait for a slow count', async () => {
  const { census, reads } = censusOn(() => new Promise(() => {}))
  assert.equal(await census.samples(), null)
  assert.equal(await census.samples(), null)
  assert.equal(reads(), 1, 'and not begun anew meanwhile')
})
