// What the operator may say about leases: how long, how much ahead, cleaning, the warning, and a service that is asked.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { as, dateAt, eachReservation, expectError, instances, type Shown } from '../support/reservation.ts'

const alice = as('alice', 'p1')

eachReservation(
  'the longest lease',
  api => {
    void test('is allowed, and a longer one is not, new or changed', async () => {
      const wanted = [instances({ resource_properties: (await api.pool(1)).only })]
      expectError(await api.tryLease(wanted, { from: 60, to: 121 }, alice), 400, /3660 seconds.*3600/)
      assert.equal((await api.explain(wanted, { from: 60, to: 121 }, alice)).status, 400)
      assert.equal((await api.explain(wanted, { from: 60, to: 120 }, alice)).body.fits, true)
      const lease = await api.lease(wanted, { from: 60, to: 120 }, alice)
      const longer = { end_date: dateAt(Date.parse(`${lease.end_date}Z`), 1) }
      expectError(await api.put(`/leases/${lease.id}`, longer, alice), 400, /seconds/)
      assert.deepEqual(await api.show(lease.id), lease)
      const exempt = await api.lease(wanted, { from: 60, to: 600 }, as('eve', 'exempt'))
      await api.end(exempt.id)
      await api.end(lease.id)
    })
  },
  { leaseSecondsMax: 3600, leaseExemptProjects: 'other,exempt' },
)

eachReservation(
  'hours ahead',
  api => {
    void test('a project has so many hours of leases before it at once', async () => {
      const wanted = [instances({ resource_properties: (await api.pool(1)).only })]
      const first = await api.lease(wanted, { from: 60, to: 120 }, alice)
      expectError(await api.tryLease(wanted, { from: 60, to: 181 }, alice), 400, /hours/)
      assert.match((await api.explain(wanted, { from: 60, to: 181 }, alice)).body.error.message, /hours/)
      assert.equal((await api.explain(wanted, { from: 60, to: 180 }, alice)).body.fits, true)
      const second = await api.lease(wanted, { from: 60, to: 180 }, alice)
      expectError(await api.tryLease(wanted, { from: 300, to: 301 }, alice), 400, /hours/)
      const others = await api.lease(wanted, { from: 60, to: 120 }, as('bob', 'p2'))
      await api.end(first.id)
      const third = await api.lease(wanted, { from: 300, to: 301 }, alice)
      for (const { id } of [second, others, third]) await api.end(id)
    })
  },
  { leaseHoursMax: 3 },
)

eachReservation(
  'cleaning time',
  api => {
    void test('lies between two leases of a host', async () => {
      const wanted = [instances({ vcpus: 8, resource_properties: (await api.pool(1)).only })]
      const now = await api.now()
      const window = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
      const first = await api.lease(wanted, window(60, 120))
      expectError(await api.tryLease(wanted, window(129, 140)), 409)
      expectError(await api.tryLease(wanted, window(20, 51)), 409)
      const leases = [first, await api.lease(wanted, window(130, 140)), await api.lease(wanted, window(20, 50))]
      for (const { id } of leases) await api.end(id)
    })
  },
  { leaseCleaningMinutes: 10 },
)

eachReservation(
  'no warning',
  api => {
    void test('when the operator wants none, there is no such event', async () => {
      const wanted = [instances({ resource_properties: (await api.pool(1)).only })]
      const lease = await api.lease(wanted, { from: 10, to: 20 })
      assert.deepEqual(lease.events.map((event: Shown) => String(event.event_type)).toSorted(), [
        'end_lease',
        'start_lease',
      ])
      await api.advance(25)
      await api.until(lease.id, 'TERMINATED')
      await api.end(lease.id)
    })
  },
  { leaseBeforeEndMinutes: 0 },
)

/** A service as an operator may have: it remembers what it was asked, and answers as it is told. */
class AskedService {
  readonly asked: { path: string; token: string | undefined; body: Shown }[] = []
  status = 204
  answer = ''
  #server: Server | undefined

  async start(): Promise<string> {
    this.#server = createServer((request, response) => {
      let text = ''
      request.on('data', chunk => (text += chunk))
      request.on('end', () => {
        const token = request.headers['x-auth-token']
        this.asked.push({ path: request.url!, token: token?.toString(), body: JSON.parse(text) })
        response.writeHead(this.status, { 'content-type': 'application/json' }).end(this.answer)
      })
    })
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server!.closeAllConnections()
    this.#server!.close()
    await once(this.#server!, 'close')
  }

  last(path: string) {
    return this.asked.findLast(each => each.path === path)
  }
}

const service = new AskedService()
const settings = { leaseServiceUrl: 'http://127.0.0.1:1', leaseServiceToken: 'secret' }
before(async () => void (settings.leaseServiceUrl = await service.start()))
after(() => service.stop())

eachReservation(
  'a service that is asked',
  api => {
    void test('agrees to new leases and to changes, and hears of the end', async () => {
      const { only, names } = await api.pool(1)
      const lease = await api.lease([instances({ amount: 2, resource_properties: only })], { from: 10, to: 70 }, alice)
      const { token, body } = service.last('/check-create')!
      assert.equal(token, 'secret')
      assert.deepEqual([body.context.user_id, body.context.project_id], ['alice', 'p1'])
      assert.equal(body.lease.name, 'a-lease')
      assert.equal(body.lease.reservations.length, 1)
      assert.ok(JSON.stringify(body.lease.reservations[0].allocations).includes(names[0]!))
      await api.update(lease.id, { end_date: await api.date(60) }, alice)
      const update = service.last('/check-update')!.body
      assert.equal(update.current_lease.end_date.slice(0, 16), lease.end_date.slice(0, 16))
      await api.advance(61)
      await api.until(lease.id, 'TERMINATED')
      assert.equal(service.last('/on-end')!.body.lease.name, 'a-lease')
      await api.end(lease.id)
    })

    void test('says no, with its own words when it has any', async () => {
      const wanted = [instances({ resource_properties: (await api.pool(1)).only })]
      const lease = await api.lease(wanted, {}, alice)
      Object.assign(service, { status: 403, answer: '{"message": "the budget is spent"}' })
      expectError(await api.tryLease(wanted, {}, alice), 400, /the budget is spent/)
      const longer = { end_date: dateAt(Date.parse(`${lease.end_date}Z`), 60) }
      expectError(await api.put(`/leases/${lease.id}`, longer, alice), 400, /the budget is spent/)
      assert.deepEqual(await api.show(lease.id), lease)
      for (const [status, answer] of [
        [403, ''],
        [200, ''],
        [500, 'no'],
      ] as const) {
        Object.assign(service, { status, answer })
        expectError(await api.tryLease(wanted, {}, alice), 400)
      }
      Object.assign(service, { status: 204, answer: '' })
      await api.end(lease.id)
    })
  },
  // Read when the server starts; by then the service's address is known.
  settings,
)
