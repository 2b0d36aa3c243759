// Rows that someone keeps locked on PostgreSQL: who needs them waits, and nobody else.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Client } from 'pg'
import { claimBatch } from '../../src/ledger/claims/batch.ts'
import { releaseLapsed } from '../../src/ledger/managed.ts'
import { limits } from '../../src/shared/limits.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import { query } from '../../src/store/statement.ts'
import type { Write } from '../../src/store/transaction.ts'
import { Baremetal } from '../support/baremetal.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import { Reservation } from '../support/reservation.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Server, startServer } from '../support/server.ts'

describe('rows that are locked on postgres', () => {
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let server: Server
  let outside: Client
  let url: string
  const api = new Placement()

  before(async () => {
    postgres = await sharedPostgres()
    url = await postgres.createDatabase()
    server = await startServer(url)
    api.origins = [server.origin]
    outside = new Client({ connectionString: url })
    await outside.connect()
  })
  after(async () => {
    api.close()
    await outside.end()
    await server.stop()
    await postgres.stop()
  })

  /** Other files run beside this one on the same server. */
  const WAITING = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  const isWaitedFor = async () => ((await outside.query(WAITING)).rowCount ?? 0) > 0
  const claimOn = (provider: string) => api.claim(randomUUID(), { [provider]: { VCPU: 1 } })

  /** Says when each of them is answered. */
  const answered = (requests: readonly Promise<unknown>[]) => {
    let count = 0
    for (const request of requests) void request.then(() => count++)
    return () => count
  }

  test('who has locked a parent and waits for its child does not keep the child’s owner waiting', async () => {
    const parent = await api.provider({ VCPU: 1000 })
    const child = randomUUID()
    const news = { uuid: child, name: child, parent_provider_uuid: parent }
    expectStatus(await api.post('/resource_providers', news), 200)
    const total = { resource_provider_generation: 0, inventories: { VCPU: { total: 1000 } } }
    expectStatus(await api.put(`/resource_providers/${child}/inventories`, total), 200)
    const touch = () => outside.query('update providers set updated_at = 1 where uuid = $1', [child])

    await outside.query("begin; set local lock_timeout = '100ms'")
    await touch()
    const claim = api.claim(randomUUID(), { [parent]: { VCPU: 1 }, [child]: { VCPU: 1 } })
    while (!(await isWaitedFor())) await sleep(5)
    // From the second update on PostgreSQL looks after the parent again.
    await touch()
    await outside.query('commit')
    expectStatus(await claim, 204)
  })

  test('a port group is not removed while a port is put into it', async () => {
    const metal = new Baremetal(server.origin)
    const node = await metal.node()
    const { uuid: group } = expectStatus(await metal.post('/v1/portgroups', { node_uuid: node }), 201).body
    await outside.query('begin')
    await outside.query('select id from nodes where uuid = $1 for no key update', [node])
    await outside.query(
      `insert into ports (uuid, node_id, portgroup_id, address, pxe_enabled, is_smartnic, local_link_connection,
         internal_info, extra, created_at)
       select $2, node_id, id, '52:54:00:00:00:01', 1, 0, '{}', '{}', '{}', 0 from portgroups where uuid = $1`,
      [group, randomUUID()],
    )
    const removal = metal.del(`/v1/portgroups/${group}`)
    while (!(await isWaitedFor())) await sleep(5)
    await outside.query('commit')
    expectStatus(await removal, 409)
    metal.close()
  })

  test('a host that comes back while its reservation provider is removed gets a new one', async () => {
    const leases = new Reservation(server.origin)
    const { id } = await leases.host('comes-back')
    expectStatus(await leases.del(`/os-hosts/${id}`), 204)
    await outside.query('begin')
    await outside.query('select id from providers where id = $1 for no key update', [id])
    await outside.query('delete from providers where parent_id = $1', [id])
    const coming = leases.post('/os-hosts', { name: 'comes-back' })
    while (!(await isWaitedFor())) await sleep(5)
    await outside.query('commit')
    expectStatus(await coming, 201)
    leases.close()
  })

  test('who becomes a host does not keep the deletion of its provider waiting', async () => {
    const leases = new Reservation(server.origin)
    await leases.computeNode('goes-away')
    await outside.query("begin; set local lock_timeout = '100ms'")
    const which = `providers where name = 'goes-away'`
    await outside.query(`select id from ${which} for no key update`)
    const coming = leases.post('/os-hosts', { name: 'goes-away' })
    while (!(await isWaitedFor())) await sleep(5)
    await outside.query(`delete from ${which}`)
    await outside.query('commit')
    expectStatus(await coming, 404)
    leases.close()
  })

  test('an inventory of a class that is being renamed is found by the new name', async () => {
    const provider = await api.provider({ VCPU: 1 })
    expectStatus(await api.put('/resource_classes/CUSTOM_BEFORE'), 201)
    await outside.query('begin')
    await outside.query(`update resource_classes set name = 'CUSTOM_AFTER' where name = 'CUSTOM_BEFORE'`)
    const setting = api.put(`/resource_providers/${provider}/inventories`, {
      resource_provider_generation: await api.generation(provider),
      inventories: { CUSTOM_BEFORE: { total: 1 } },
    })
    while (!(await isWaitedFor())) await sleep(5)
    await outside.query('commit')
    expectStatus(await setting, 200)
    const found = expectStatus(await api.get('/allocation_candidates?resources=CUSTOM_AFTER:1'), 200)
    assert.deepEqual(Object.keys(found.body.provider_summaries), [provider])
  })

  test('claims on a row that an operator keeps locked wait for it, and all others go on', async () => {
    const [locked, other] = [await api.provider({ VCPU: 1000 }), await api.provider({ VCPU: 1000 })]
    const consumer = randomUUID()
    expectStatus(await api.claim(consumer, { [locked]: { VCPU: 1 } }), 204)
    await outside.query('begin')
    await outside.query('select id from providers where uuid = $1 for update', [locked])

    // One that names the row, and one that only has something of it, among those that need nothing of it.
    const waiting = [
      ...Array.from({ length: 10 }, () => claimOn(locked)),
      api.del(`/allocations/${consumer}`),
      ...Array.from({ length: 10 }, async (_, i) =>
        api.put(`/resource_providers/${locked}/inventories/VCPU`, {
          resource_provider_generation: 1000 + i,
          total: 1000,
        }),
      ),
    ]
    const done = answered(waiting)
    const free = await Promise.all(Array.from({ length: 20 }, () => claimOn(other)))
    for (const answer of free) expectStatus(answer, 204)
    for (let round = 0; round < 10; round++) {
      expectStatus(await claimOn(other), 204)
      assert.equal((await api.get(`/resource_providers/${locked}/usages`)).status, 200)
    }
    assert.equal(done(), 0)

    await outside.query('commit')
    for (const answer of await Promise.all(waiting.slice(0, 11))) expectStatus(answer, 204)
    for (const answer of await Promise.all(waiting.slice(11))) expectStatus(answer, 409)
    assert.deepEqual(await api.usages(locked), { VCPU: 10 })
    assert.deepEqual(await api.usages(other), { VCPU: 30 })
    await api.fsck()
  })

  test('a claim on a row that stays locked is told to come back', async t => {
    const provider = await api.provider({ VCPU: 10 })
    t.mock.property(limits, 'lockWaitMsMax', 1_000 as never)
    await outside.query('begin')
    await outside.query('select id from providers where uuid = $1 for update', [provider])
    const answer = await claimOn(provider)
    await outside.query('commit')
    expectStatus(answer, 503)
    assert.match(String(answer.headers['retry-after']), /^\d+$/)
    expectStatus(await claimOn(provider), 204)
    assert.deepEqual(await api.usages(provider), { VCPU: 1 })
  })

  test('a consumer that someone else is about to make is waited for', async () => {
    const [provider, other] = [await api.provider({ VCPU: 10 }), await api.provider({ VCPU: 10 })]
    const consumer = randomUUID()
    await outside.query('begin')
    await outside.query(
      `insert into consumers (uuid, project_id, user_id, generation, created_at) values ($1, 'p', 'u', 1, 0)`,
      [consumer],
    )
    const waiting = api.claim(consumer, { [provider]: { VCPU: 1 } })
    const done = answered([waiting])
    for (let round = 0; round < 5; round++) expectStatus(await claimOn(other), 204)
    await sleep(limits.claimLockMs * 2)
    expectStatus(await claimOn(other), 204)
    assert.equal(done(), 0)
    await outside.query('rollback')
    expectStatus(await waiting, 204)
    await api.fsck()
  })

  test('a claim that takes the place of a lapsed consumer, and the sweep that ends it, never wait for each other', async () => {
    const retries: string[] = []
    const observer = { committed: () => {}, retried: (reason: string) => void retries.push(reason) }
    const store = new PostgresStore(url, { observer })
    const consumer = randomUUID()
    const provider = await api.provider({ VCPU: 1 })
    expectStatus(await api.claim(consumer, { [provider]: { VCPU: 1 } }), 204)
    await outside.query(
      `update consumers set managed_by = 'metal', type = 'RESERVATION', expires_at = 1 where uuid = $1`,
      [consumer],
    )

    const resources = new Map([[provider, new Map([['VCPU', 1]])]])
    const wanted = { consumer: randomUUID(), projectId: 'p', userId: 'u', type: 'T', generation: undefined, resources }
    const claim = () => slowly(claimBatch([{ kind: 'replace', consumers: [wanted], owner: null }], 2))
    const sweep = () => slowly(releaseLapsed('metal', 10, 2))
    const [verdicts] = await Promise.all([store.write(claim), store.write(sweep)])
    await store.close()
    assert.deepEqual(verdicts, [null])
    assert.deepEqual(retries, [])
    await api.fsck()
  })
})

const nap = query((db, _: object) => db.selectNoFrom(sql`cast(pg_sleep(0.3) as text)`.as('nap')))

/** The same transaction with a pause after each of its bursts, so that another one comes between. */
function* slowly<T>(work: Write<T>): Write<T> {
  let step = work.next()
  while (!step.done) {
    const answers = yield step.value
    yield [nap({})]
    step = work.next(answers)
  }
  return step.value
}
