// Two PostgreSQL servers that were promoted from the same one: both have the same timeline by number, and other content. A
// process that has been with one of them never goes on with the other.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../candidates/questions.ts'
import { ask, Pair, setSynchronous } from '../failover/pair.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import type { Postgres } from '../support/postgres.ts'
import { type Server, startServer } from '../support/server.ts'
import { migrateDatabase } from '../support/templates.ts'

const DATABASE = 'holdfast'

describe('a fork of the database', { timeout: 300_000 }, () => {
  let pair: Pair
  let twin: Postgres
  let server: Server
  const api = new Placement()
  before(async () => {
    pair = await Pair.start()
    await pair.primary.createDatabase(DATABASE)
    await migrateDatabase(pair.url(DATABASE))
    server = await startServer(pair.url(DATABASE))
    api.origins = [server.origin]
  })
  after(async () => {
    api.close()
    await server?.stop()
    await pair?.stop()
  })

  const ready = async ({ origin }: Server) => {
    const answer = await fetch(`${origin}/readyz`)
    return { status: answer.status, text: await answer.text() }
  }
  const isReady = (at: Server) =>
    eventually(
      () => ready(at),
      ({ status }) => status === 200,
    )
  const timelines = async (at: Postgres) =>
    (await ask<{ timeline: string }>(at, 'select timeline from eras order by timeline', DATABASE)).map(row =>
      Number(row.timeline),
    )
  const refused = async () => {
    const metrics = await (await fetch(`${server.origin}/metrics`)).text()
    return Number(/^holdfast_store_refused (\d+)/m.exec(metrics)![1])
  }
  const REFUSAL = /a fork that lacks what was answered on timeline 2.*restart all its processes/

  test('is refused in words by all who know what it lacks, although the number of its timeline is the same', async () => {
    const provider = await api.provider({ VCPU: 100 })
    twin = await pair.promote()
    await isReady(server)
    const kept = await eventually(
      async () => {
        const consumer = randomUUID()
        return (await api.claim(consumer, { [provider]: { VCPU: 1 } })).status === 204 ? consumer : null
      },
      consumer => consumer !== null,
    )
    // The new timeline has its name, and the process knows it.
    await eventually(
      () => timelines(pair.primary),
      found => found.includes(2),
    )
    await setSynchronous(twin, '')
    await twin.restart('fast', () => writeFileSync(join(twin.data, 'standby.signal'), ''))
    await isReady(server)
    await pair.primary.kill9()
    await ask(twin, 'select pg_promote(true, 60)')
    assert.deepEqual(await timelines(twin), [1])
    const { text } = await eventually(
      () => ready(server),
      found => found.status === 503 && REFUSAL.test(found.text),
    )
    assert.match(text, /timeline 2/)
    for (const asked of [
      api.claim(randomUUID(), { [provider]: { VCPU: 1 } }),
      api.get(`/resource_providers/${provider}`),
    ]) {
      const answer = expectStatus(await asked, 503)
      assert.match(JSON.stringify(answer.body), REFUSAL)
      assert.ok(answer.headers['retry-after'])
    }
    assert.equal(await refused(), 1)
    assert.deepEqual(await timelines(twin), [1], 'nobody has named the fork')
    // The one that has it comes back.
    await pair.primary.restart()
    await isReady(server)
    assert.deepEqual(Object.keys((await api.get(`/allocations/${kept}`)).body.allocations), [provider])
  })

  test('is what a process goes on with that is restarted: so an operator accepts the loss', async () => {
    await pair.primary.kill9()
    await eventually(
      () => ready(server),
      found => found.status === 503 && REFUSAL.test(found.text),
    )
    const fresh = await startServer(pair.url(DATABASE))
    await isReady(fresh)
    const there = new Placement(fresh.origin)
    await there.provider({ VCPU: 1 })
    await there.fsck()
    // Now both have a second timeline with a name, and those who knew the first of them still refuse the other.
    await eventually(
      () => timelines(twin),
      found => found.includes(2),
    )
    assert.match((await ready(server)).text, REFUSAL)
    there.close()
    await fresh.stop()
  })
})
