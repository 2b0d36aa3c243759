// What other processes committed may be out of hearing while the database answers all else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Memory } from '../../src/process/memory.ts'
import { openStore } from '../../src/store/open.ts'
import type { PostgresStore } from '../../src/store/postgres.ts'
import { eachDatabase } from '../support/stores.ts'

/** Both forms of a pool's `connect`: its own `query` calls it with a callback. */
function refuse(callback?: (error: Error) => void): Promise<never> | void {
  const away = new Error('away')
  if (!callback) return Promise.reject(away)
  callback(away)
}

eachDatabase(
  'a board',
  ({ create }) => {
    void test('is not shown when what others claimed could not be heard of', async () => {
      const store = openStore(await create()) as PostgresStore
      const memory = new Memory({ store, log: pino({ level: 'silent' }), lagged: () => {}, woken: () => {} })
      await memory.start()
      const { pool } = store
      const connect = Object.getOwnPropertyDescriptor(pool, 'connect')
      try {
        await memory.catchUp()
        Object.defineProperty(pool, 'connect', { configurable: true, value: refuse })
        await assert.rejects(memory.catchUp(), /could not be read/)
        if (connect) Object.defineProperty(pool, 'connect', connect)
        else Reflect.deleteProperty(pool, 'connect')
        await memory.catchUp()
      } finally {
        await memory.stop()
        await store.close()
      }
    })
  },
  ['postgres'],
)
