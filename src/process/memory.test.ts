import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { pino } from 'pino'
import { createProvider } from '../ledger/new-provider.ts'
import { openStore } from '../store/open.ts'
import { Memory } from './memory.ts'
import { migrateStore } from './migrate.ts'

test('a watcher that throws is logged, and the other watchers are still told', async () => {
  await using opened = new AsyncDisposableStack()
  const store = openStore('sqlite::memory:')
  opened.defer(() => store.close())
  await migrateStore(store)
  const logged: string[] = []
  const log = pino({}, { write: line => void logged.push((JSON.parse(line) as { msg: string }).msg) })
  const memory = new Memory({ store, log, lagged: () => {}, woken: () => {} })
  await memory.start()
  const heard: string[] = []
  memory.watch(() => {
    throw new Error('not now')
  })
  const offA = memory.watch(providers => heard.push(`a ${providers.length}`))
  memory.watch(providers => heard.push(`b ${providers.length}`))
  const create = (name: string) => store.write(() => createProvider({ uuid: randomUUID(), name, parentUuid: null }, 1))
  const { id } = await create('one')
  assert.ok(memory.mirror.table.rowOfId(id) >= 0, 'memory knows before its writer does')
  offA()
  await create('two')
  assert.deepEqual(heard, ['a 1', 'b 1', 'b 1'])
  assert.deepEqual(logged, ['a watcher of changes failed', 'a watcher of changes failed'])
})
