// The receiver of the docs takes real deliveries, each once, and refuses what isn't from us or is too old.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { openStore } from '../../src/store/open.ts'
import { Client } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { allocation, tell, until } from './receiver.ts'

const RECEIVER = fileURLToPath(new URL('../../docs/examples/webhook-receiver.ts', import.meta.url))

eachDatabase(
  'the receiver of the docs',
  databases => {
    void test('takes each message once, and none that is forged or old', async () => {
      await using opened = new AsyncDisposableStack()
      const database = await databases.create()
      const server = await startServer(database, { webhookAllow: '127.0.0.1' })
      opened.defer(() => server.stop())
      const api = new Client('/holdfast/v1', server.origin)
      opened.defer(() => api.close())
      const store = openStore(database)
      opened.defer(() => store.close())
      // The receiver is told its secret before it listens, so the webhook learns the port afterwards.
      const made = await api.post('/webhooks', { url: 'http://127.0.0.1:1999/', project: 'p1' })
      const { uuid, secret } = expectStatus(made, 201).body
      const child = spawn(process.execPath, [RECEIVER], { env: { WEBHOOK_SECRET: secret, PORT: '0' }, stdio: 'pipe' })
      opened.defer(() => void child.kill())
      let said = ''
      child.stdout.setEncoding('utf8').on('data', text => (said += text))
      await until('the receiver', () => said.includes('listening at'))
      const url = /listening at (\S+)/.exec(said)![1]!
      expectStatus(await api.request('PATCH', `/webhooks/${uuid}`, { url }), 200)
      const ids = [randomUUID(), randomUUID()]
      for (const id of ids) await tell(store, allocation(id, 'created'), allocation(id, 'active'))
      const lines = () => said.split('\n').filter(line => line.startsWith('holdfast.allocation'))
      await until('all', () => lines().length === 4)
      for (const id of ids) {
        const types = lines()
          .filter(line => line.includes(id))
          .map(line => line.split(' ')[0])
        assert.deepEqual(types, ['holdfast.allocation.created', 'holdfast.allocation.active'])
      }
      const body = JSON.stringify({ type: 'holdfast.allocation.ended', subject: 'allocation/x', data: {} })
      const send = async (key: string, id: string, at: Date, sent = body) => {
        const headers = {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': new Webhook(key).sign(id, at, body),
        }
        return (await fetch(url, { method: 'POST', headers, body: sent })).status
      }
      const now = new Date()
      assert.equal(await send(secret, 'msg_1', now), 200)
      assert.equal(await send(secret, 'msg_1', now), 200)
      assert.equal(lines().length, 5, 'a double')
      assert.equal(await send(`whsec_${Buffer.alloc(32).toString('base64')}`, 'msg_2', now), 401)
      assert.equal(await send(secret, 'msg_3', now, `${body} `), 401)
      assert.equal(await send(secret, 'msg_4', new Date(now.getTime() - 301_000)), 401)
      assert.equal((await fetch(url, { method: 'POST', body })).status, 401)
      assert.equal(lines().length, 5)
    })
  },
  ['sqlite'],
)
