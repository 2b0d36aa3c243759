// A process that is stopped in the middle of a delivery puts it back, and the next one sends it at once.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { contenders } from '../../src/webhooks/taking.ts'
import { Client } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { allocation, Receiver, tell, until } from './receiver.ts'

eachDatabase('a process that stops', databases => {
  void test('leaves what it was delivering to the next one', async () => {
    await using opened = new AsyncDisposableStack()
    const database = await databases.create()
    const receiver = new Receiver()
    await receiver.open()
    opened.defer(() => receiver.close())
    receiver.respond = () => {}
    const first = await startServer(database, { webhookAllow: '127.0.0.1' })
    const api = new Client('/holdfast/v1', first.origin)
    opened.defer(() => api.close())
    const { uuid } = expectStatus(await api.post('/webhooks', { url: receiver.url, project: 'p1' }), 201).body
    const store = openStore(database)
    opened.defer(() => store.close())
    await tell(store, allocation(randomUUID(), 'created'))
    await until('the first try', () => receiver.received.length === 1)
    await first.stop()
    const [found] = await store.read(() => contenders(Date.now()))
    assert.equal(found?.due, 1, 'it is due at the end of its term only')
    receiver.respond = response => void response.writeHead(204).end()
    const second = await startServer(database, { webhookAllow: '127.0.0.1' })
    opened.defer(() => second.stop())
    api.origins = [second.origin]
    const last = async () => expectStatus(await api.get(`/webhooks/${uuid}/deliveries`), 200).body.deliveries[0]
    await until('the second try', async () => (await last()).status === 'delivered')
    assert.equal((await last()).attempts, 2)
    assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 1)
  })
})
