// What only the shared store promises: it outlives its database's absence.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { connect } from '../../src/client/index.ts'
import { clients } from '../races/clients.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { runHoldfast, type Server, startServer } from '../support/server.ts'

let postgres: Postgres
let server: Server
const api = new Placement()

before(async () => {
  postgres = await startPostgres({ fsync: true })
  server = await startServer(await postgres.createDatabase('ledger'))
  api.origins = [server.origin]
})
after(async () => {
  api.close()
  await server.stop()
  await postgres.stop()
})

test('while PostgreSQL is away every request is told to come back, and then all is well without a restart', async () => {
  const provider = await api.provider({ VCPU: 10 })
  const claims = { [provider]: { VCPU: 1 } }
  expectStatus(await api.claim(randomUUID(), claims), 204)
  await postgres.kill9()

  for (const answer of [
    await api.claim(randomUUID(), claims),
    await api.get(`/resource_providers/${provider}`),
    await api.post('/resource_providers', { name: 'too-early' }),
    await api.del(`/resource_providers/${provider}`),
  ]) {
    expectStatus(answer, 503)
    assert.match(String(answer.headers['retry-after']), /^\d+$/)
    assert.equal(answer.body.errors[0].status, 503)
  }
  assert.equal((await fetch(`${server.origin}/readyz`)).status, 503)
  assert.equal((await fetch(`${server.origin}/healthz`)).status, 200)

  await postgres.restart()
  assert.equal((await fetch(`${server.origin}/readyz`)).status, 200)
  expectStatus(await api.claim(randomUUID(), claims), 204)
  assert.deepEqual(await api.usages(provider), { VCPU: 2 })
  await api.fsck()
})

test('a PostgreSQL that is killed in the middle of claims has all that were answered', async () => {
  const provider = await api.provider({ VCPU: 1_000_000 })
  const granted: string[] = []
  const done = new AbortController()
  const load = clients(16, async () => {
    while (!done.signal.aborted) {
      const consumer = randomUUID()
      const { status } = expectStatus(await api.claim(consumer, { [provider]: { VCPU: 1 } }), 204, 503)
      if (status === 204) granted.push(consumer)
      else await sleep(20)
    }
  })
  for (let round = 0; round < 3; round++) {
    await sleep(300)
    await postgres.kill9()
    await postgres.restart()
  }
  await sleep(300)
  done.abort()
  await load
  const { allocations } = (await api.get(`/resource_providers/${provider}/allocations`)).body
  for (const consumer of granted) assert.ok(consumer in allocations, `lost: ${consumer}`)
  assert.ok(granted.length > 0)
  await api.fsck()
})

test('a server goes on while a newer version adds columns to what it reads', async () => {
  const database = await postgres.createDatabase('older')
  const older = await startServer(database, { auth: 'none', placementPolicy: 'open' })
  const { nodes, allocations } = await connect({ url: older.origin, env: {} })
  const use = async (names: readonly string[]) => {
    const made = await Promise.all(names.map(name => nodes.create({ driver: 'fake-hardware', name })))
    await Promise.all(made.map(({ uuid }) => nodes.startMaintenance(uuid)))
    await Promise.all(made.map(({ uuid }) => nodes.show(uuid)))
    await allocations.list()
  }
  // At once, so that each connection has its statements.
  await use(Array.from({ length: 32 }, (_, i) => `before-${i}`))
  const sql = new Client({ connectionString: database })
  await sql.connect()
  for (const table of ['nodes', 'allocations', 'conductors', 'providers']) {
    await sql.query(`alter table ${table} add column newer bigint`)
  }
  await sql.end()
  await use(Array.from({ length: 32 }, (_, i) => `after-${i}`))
  assert.equal((await nodes.list()).length, 64)
  await older.stop()
})

test('a server that finds no PostgreSQL says so and exits', async () => {
  const { code, stderr } = await runHoldfast([
    'serve',
    '--port',
    '0',
    '--database',
    'postgres://u:secret@127.0.0.1:1/x',
  ]).exit
  assert.equal(code, 1)
  assert.match(stderr, /^holdfast: the database is away/m)
  assert.doesNotMatch(stderr, /secret/)
})
