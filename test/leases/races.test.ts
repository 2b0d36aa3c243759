// Many at once through several processes on one PostgreSQL: the last slot goes to exactly one, and no host is ever promised
// beyond what it has.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sharedPostgres } from '../support/postgres.ts'
import { expectStatus } from '../support/placement.ts'
import { dateAt, instances, Reservation, wholeHosts } from '../support/reservation.ts'
import { type Server, spawnServer } from '../support/server.ts'
import { chance, clients } from '../races/clients.ts'
import { Person } from '../cli/person.ts'

const PROCESSES = 4
const CROWD = 64
const ROUNDS = 8
const HOUR_MS = 3_600_000

describe('leases through four processes', () => {
  const api = new Reservation()
  const servers: Server[] = []
  let databases: Awaited<ReturnType<typeof sharedPostgres>>
  before(async () => {
    databases = await sharedPostgres()
    const database = await databases.createDatabase()
    // The first brings the database up to date and does the work behind the APIs.
    servers.push(await spawnServer(database, ['--test-clock']))
    for (let i = 1; i < PROCESSES; i++) servers.push(await spawnServer(database, ['--test-clock'], 'api'))
    api.at(...servers.map(server => server.origin))
  })
  after(async () => {
    api.close()
    for (const server of servers) await server.stop()
    await databases.stop()
  })

  void test('the last slot goes to exactly one of 64', async () => {
    const pool = await api.pool(2, { vcpus: 4 })
    for (let round = 0; round < ROUNDS; round++) {
      const now = await api.now()
      const window = { start_date: dateAt(now, 60), end_date: dateAt(now, 120) }
      const wish = (vcpus: number) => [instances({ vcpus, resource_properties: pool.only })]
      const full = await api.lease(wish(4), window)
      const part = await api.lease(wish(3), window)
      const answers = await clients(CROWD, () => api.tryLease(wish(1), window))
      const granted = answers.filter(({ status }) => status === 201)
      assert.equal(granted.length, 1, `round ${round}`)
      for (const answer of answers) expectStatus(answer, 201, 409)
      for (const id of [full.id, part.id, granted[0]!.body.lease.id]) await api.end(id)
    }
    await api.fsck()
  })

  void test('a crowd gets exactly as much as there is, and a refusal means that nothing is left', async () => {
    const pool = await api.pool(4, { vcpus: 8 })
    const wish = [instances({ vcpus: 2, resource_properties: pool.only })]
    const answers = await clients(CROWD, () => api.tryLease(wish, { from: 600, to: 660 }))
    assert.equal(answers.filter(({ status }) => status === 201).length, 16)
    for (const answer of answers) expectStatus(answer, 201, 409)
    await api.fsck()
  })

  void test('whole hosts, slots, changes and deletions at once never oversell', async () => {
    const pool = await api.pool(6, { vcpus: 8 })
    const ids: string[] = []
    await clients(CROWD, async index => {
      const random = chance(index + 1)
      for (let step = 0; step < 6; step++) {
        const from = 1_000 + random(5) * 10
        const window = { from, to: from + 10 * (1 + random(3)) }
        const id = ids.at(-1 - random(8))
        const kind = random(6)
        if (kind === 0 && id) expectStatus(await api.del(`/leases/${id}`), 204, 404)
        else if (kind === 1 && id) {
          const end_date = await api.date(window.to + 10)
          expectStatus(await api.put(`/leases/${id}`, { end_date }), 200, 400, 404, 409)
        } else {
          const wish =
            random(4) === 0
              ? wholeHosts({ resource_properties: pool.only })
              : instances({ vcpus: 1 + random(4), amount: 1 + random(4), resource_properties: pool.only })
          const answer = expectStatus(await api.tryLease([wish], window), 201, 409)
          if (answer.status === 201) ids.push(answer.body.lease.id)
        }
      }
    })
    assert.ok(ids.length > 0)
    await api.fsck()
  })

  void test('a clock that one process moves has moved for all, and what is due is done', async () => {
    const pool = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: pool.only })], { from: 10, to: 20 })
    for (const status of ['ACTIVE', 'TERMINATED']) {
      await api.advance(11)
      for (let i = 0; i < PROCESSES; i++) assert.equal((await api.show(lease.id)).status, status)
    }
    const times = await clients(PROCESSES, () => api.now())
    assert.ok(Math.max(...times) - Math.min(...times) < 60_000)
    await api.end(lease.id)
    await api.fsck()
  })

  void test('many who book the next time that fits, through all processes, each get one of their own', async () => {
    const pool = await api.pool(1)
    const now = Math.ceil((await api.now()) / HOUR_MS) * HOUR_MS
    const wish = `resource_type=physical:host,min=1,max=1,resource_properties=${pool.only}`
    const start = ['--start-date', dateAt(now, 600), '--for', '1h']
    const exits = await clients(2 * PROCESSES, index => {
      const person = new Person(() => servers[index % PROCESSES]!.origin)
      return person.types(
        ['lease', 'create', `next-${index}`, '--reservation', wish, ...start, '--next', '-f', 'json'],
        {
          OS_TOKEN: 'admin',
        },
      )
    })
    const made = exits.map(({ code, stdout, stderr }) => {
      assert.equal(code, 0, stderr)
      return JSON.parse(stdout) as { id: string; start_date: string }
    })
    const hours = made.map(({ start_date }) => (Date.parse(`${start_date}Z`) - now) / HOUR_MS).toSorted((a, b) => a - b)
    assert.deepEqual(
      hours,
      made.map((_, index) => 10 + index),
    )
    await api.fsck()
    for (const { id } of made) await api.end(id)
  })
})
