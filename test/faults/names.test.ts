// DNS that is away while a server has lost its connections to PostgreSQL: 503 until names are found again.
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sharedPostgres } from '../support/postgres.ts'
import { startProxy } from '../support/proxy.ts'
import { waitFor } from '../support/baremetal.ts'
import { buildLayer, noLayer } from './layer.ts'
import { nothingIsLost } from './load.ts'
import { startServing } from './processes.ts'

const AWAY_MS = 2_000

test('names that can not be looked up keep nobody waiting, and nothing is lost', { skip: noLayer }, async t => {
  const layer = buildLayer()
  t.after(() => layer.remove())
  const databases = await sharedPostgres()
  t.after(() => databases.stop())
  const proxy = await startProxy(await databases.createDatabase())
  t.after(() => proxy.stop())
  const server = await startServing('serve', proxy.url.replace('127.0.0.1', 'localhost'), {
    environment: layer.environment,
  })
  t.after(() => server.end())
  await nothingIsLost(t, [server], async () => {
    layer.set('namesAway', 1)
    proxy.cut()
    await waitFor('it says so', async () => (await fetch(`${server.origin}/readyz`)).status === 503)
    await sleep(AWAY_MS)
    layer.set('namesAway', 0)
  })
})
