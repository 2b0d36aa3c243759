// SIGTERM under load: what the server has accepted it still answers, what it answered is kept, and it exits with 0.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clients } from './races/clients.ts'
import { consumerBody, expectStatus, Placement } from './support/placement.ts'
import { spawnServer } from './support/server.ts'
import { eachDatabase } from './support/stores.ts'

// A server that never exits should fail here, not hang the run.
const TEST_TIMEOUT_MS = 60_000

eachDatabase('a server that is told to stop', databases => {
  test('answers every request that it has accepted', { timeout: TEST_TIMEOUT_MS }, async () => {
    const server = await spawnServer(await databases.create())
    const api = new Placement(server.origin)
    const provider = await api.provider({ VCPU: 100 })
    api.close()
    const started = await clients(8, () => startClaim(server.origin, provider))
    const exit = server.terminate()
    await sleep(100)
    const statuses = await Promise.all(started.map(finish => finish()))
    assert.deepEqual(statuses, Array<number>(8).fill(204))
    const { code, stderr } = await exit
    assert.equal(code, 0, stderr)
  })

  test('keeps what it has answered, and says no or hangs up to the rest', { timeout: TEST_TIMEOUT_MS }, async () => {
    const database = await databases.create()
    const server = await spawnServer(database)
    const api = new Placement(server.origin)
    const provider = await api.provider({ VCPU: 1_000_000 })
    const granted: string[] = []
    const load = clients(16, async () => {
      for (;;) {
        const consumer = randomUUID()
        const answer = await api.claim(consumer, { [provider]: { VCPU: 1 } }).catch(() => null)
        if (!answer || expectStatus(answer, 204, 503).status === 503) return
        granted.push(consumer)
      }
    })
    await sleep(300)
    const { code } = await server.terminate()
    await load
    api.close()
    assert.equal(code, 0)
    const again = await spawnServer(database)
    const reader = new Placement(again.origin)
    const { allocations } = (await reader.get(`/resource_providers/${provider}/allocations`)).body
    for (const consumer of granted) assert.ok(consumer in allocations, `lost: ${consumer}`)
    assert.ok(granted.length > 0)
    await reader.fsck()
    reader.close()
    await again.stop()
  })
})

/** Begins a claim and waits for the server's word that it has the request; its body follows when asked for. */
async function startClaim(origin: string, provider: string): Promise<() => Promise<number>> {
  const body = JSON.stringify(consumerBody({ [provider]: { VCPU: 1 } }))
  const outgoing = request(`${origin}/placement/allocations/${randomUUID()}`, {
    method: 'PUT',
    headers: {
      expect: '100-continue',
      'content-type': 'application/json',
      'content-length': body.length,
      'x-auth-token': 'admin',
      'openstack-api-version': 'placement latest',
    },
  })
  outgoing.flushHeaders()
  await once(outgoing, 'continue')
  return async () => {
    const answered = once(outgoing, 'response')
    outgoing.end(body)
    const [incoming] = await answered
    incoming.resume()
    return incoming.statusCode as number
  }
}
