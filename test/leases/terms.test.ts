// When allocations end: never behind a booking of their node, and not before the time that was promised.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { Baremetal, newClass, NEWEST, waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { Reservation } from '../support/reservation.ts'
import { type Server, startServer } from '../support/server.ts'

const ROUNDS = 3

describe('the end of an allocation', () => {
  const [api, metal] = [new Reservation(), new Baremetal()]
  let [server, sql]: [Server | null, Client | null] = [null, null]
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  before(async () => {
    postgres = await sharedPostgres()
    const database = await postgres.createDatabase()
    server = await startServer(database, { testClock: true })
    api.at(server.origin)
    metal.origins = metal.placement.origins = [server.origin]
    sql = new Client({ connectionString: database })
    await sql.connect()
  })
  after(async () => {
    api.close()
    metal.close()
    await sql?.end()
    await server?.stop()
    await postgres.stop()
  })

  /** A node that is booked in an hour, someone who has it until then, and someone who waits for it, for half an hour. */
  async function booked(resource_class: string) {
    const node = await metal.node({ resource_class }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200)
    const lease = await api.lease([{ resource_type: 'physical:node', resource_class, min: 1, max: 1 }], {
      from: 60,
      to: 120,
    })
    const first = await metal.allocated({ resource_class, expires_at: '20m' })
    const second = await metal.allocate({ resource_class, expires_at: '30m', wait_until: '1h' })
    // The conductor has looked for a node, and written down why there is none.
    await waitFor('it waits', async () => {
      const text = 'select 1 from allocations where uuid = $1 and reasons is not null'
      return (await sql!.query(text, [second.uuid])).rows.length > 0
    })
    return { node, lease, first, second }
  }

  async function ofOwnClass(): Promise<string> {
    const resource_class = newClass()
    await metal.node({ resource_class }, 'available')
    return resource_class
  }

  const waiting = (count: number) =>
    waitFor(`${count} wait for the row`, async () => {
      const text = `select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      return (await sql!.query<{ n: number }>(text)).rows[0]!.n >= count
    })
  const extend = (allocation: string) =>
    metal.patch(`/v1/allocations/${allocation}`, [{ op: 'replace', path: '/expires_at', value: '3h' }], NEWEST)

  test('is not put behind a booking of the node while that arrives', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { node, lease, first, second } = await booked(`gold-${round}`)
      await sql!.query('begin')
      await sql!.query('select 1 from allocations where uuid = $1 for update', [second.uuid])
      // The row is held: first the conductor waits for it, with the node in its hands, and then the client, who has
      // found no node.
      expectStatus(await metal.del(`/v1/allocations/${first.uuid}`), 204)
      await waiting(1)
      const extended = extend(second.uuid)
      await waiting(2)
      await sql!.query('commit')
      expectStatus(await extended, 409)
      const { state, node_uuid, expires_at } = await metal.settled(second.uuid)
      assert.deepEqual([state, node_uuid, expires_at], ['active', node, second.expires_at])
      await api.fsck()
      expectStatus(await metal.del(`/v1/allocations/${second.uuid}`), 204)
      await api.end(lease.id)
    }
  })

  test('that is put off as it comes is put off', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const allocation = await metal.allocated({ resource_class: await ofOwnClass(), expires_at: '20m' })
      await sql!.query('begin')
      await sql!.query('select 1 from allocations where uuid = $1 for update', [allocation.uuid])
      // First the client waits for the row, and then whoever ends what is over, and has found that this is.
      const extended = extend(allocation.uuid)
      await waiting(1)
      const passed = api.advance(21)
      await waiting(2)
      await sql!.query('commit')
      const { expires_at } = expectStatus(await extended, 200).body
      await passed
      assert.equal((await metal.allocation(allocation.uuid)).expires_at, expires_at)
      await api.fsck()
    }
  })

  test('behind a booking of the node, or none at all, is seen by fsck', async () => {
    const { node, lease, first, second } = await booked('silver')
    const invariant = 'nobody has a leasable node for ever, or into a booking, but by a lease'
    const violations = async (): Promise<number> => {
      const { invariants } = (await metal.operator('GET', '/fsck')).body
      return invariants.find((one: { invariant: string }) => one.invariant === invariant).violations
    }
    expectStatus(await metal.del(`/v1/allocations/${second.uuid}`), 204)
    const end = Date.parse(first.expires_at)
    const setEnd = (time: number | null) =>
      sql!.query('update allocations set expires_at = $1 where uuid = $2', [time, first.uuid])
    for (const wrong of [end + 3_600_000, null]) {
      await setEnd(wrong)
      assert.equal(await violations(), 1, String(wrong))
      await setEnd(end)
      assert.equal(await violations(), 0)
    }
    expectStatus(await metal.del(`/v1/allocations/${first.uuid}`), 204)
    // No enrolled node can be held: this one is moved there.
    const other = await metal.node({ resource_class: 'silver' }, 'available')
    await metal.hold([other], { expires_at: '20m' })
    const hold = async (of: string, ms: number) => {
      const text =
        'update reservations set node_id = (select id from nodes where uuid = $1), expires_at = expires_at + $2'
      await sql!.query(text, [of, ms])
    }
    await hold(node, 3_600_000)
    assert.equal(await violations(), 1)
    await hold(other, -3_600_000)
    assert.equal(await violations(), 0)
    await api.end(lease.id)
    await api.fsck()
  })
})
