// Leases as clients see them: what they may say, what is shown, whose they are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { as, classOf, dateAt, eachReservation, expectError, instances, type Shown } from '../support/reservation.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000000$/
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{6})?$/
const minutesBetween = (a: string, b: string) => (Date.parse(`${b}Z`) - Date.parse(`${a}Z`)) / 60_000

eachReservation('leases', api => {
  void test('a client may choose the id, so that it can ask what became of its request', async () => {
    const { only } = await api.pool(1)
    const id = '7b9d8a52-52c1-4b1e-9a53-0d3a3a4c9f10'
    const wanted = [instances({ resource_properties: only })]
    assert.equal((await api.lease(wanted, { id })).id, id)
    expectError(await api.tryLease(wanted, { id }), 409, /already exists/)
    expectError(await api.tryLease(wanted, { id, name: 'other' }, as('someone', 'elsewhere')), 409, /already exists/)
    for (const bad of ['l1', 7, {}]) expectError(await api.tryLease(wanted, { id: bad }), 400, /id must be/)
    assert.equal((await api.show(id)).name, 'a-lease')
    await api.end(id)
    assert.equal((await api.lease(wanted, { id })).id, id)
    const { id: chosen } = await api.lease(wanted, { id: null })
    assert.match(chosen, UUID)
    for (const one of [id, chosen]) await api.end(one)
  })

  void test('a new lease shows all that clients know of it', async () => {
    const { only } = await api.pool(1)
    const wanted = instances({ vcpus: 2, memory_mb: 1024, disk_gb: 5, amount: 3, affinity: null })
    const body = await api.leaseBody([{ ...wanted, resource_properties: only }], { name: 'l1', events: [] })
    const { lease } = expectStatus(await api.post('/leases', body), 201).body
    const { reservations, events, ...rest } = lease
    assert.deepEqual(rest, {
      id: lease.id,
      name: 'l1',
      start_date: `${(body as Shown).start_date.replace(' ', 'T')}:00.000000`,
      end_date: `${(body as Shown).end_date.replace(' ', 'T')}:00.000000`,
      status: 'PENDING',
      degraded: false,
      user_id: 'admin',
      project_id: 'admin',
      user_name: 'admin',
      project_name: 'admin',
      trust_id: null,
      created_at: lease.created_at,
      updated_at: null,
    })
    assert.match(lease.id, UUID)
    assert.match(lease.created_at, TIME)

    assert.equal(reservations.length, 1)
    const [reservation] = reservations
    assert.match(reservation.id, UUID)
    assert.match(reservation.resource_id, UUID)
    assert.match(reservation.created_at, TIME)
    assert.deepEqual(reservation, {
      id: reservation.id,
      lease_id: lease.id,
      resource_id: reservation.resource_id,
      resource_type: 'virtual:instance',
      status: 'pending',
      missing_resources: false,
      resources_changed: false,
      vcpus: 2,
      memory_mb: 1024,
      disk_gb: 5,
      amount: 3,
      affinity: null,
      resource_properties: only,
      flavor_id: reservation.id,
      aggregate_id: null,
      server_group_id: null,
      created_at: reservation.created_at,
      updated_at: reservation.updated_at,
    })

    assert.deepEqual(events.map((event: Shown) => event.event_type).toSorted(), [
      'before_end_lease',
      'end_lease',
      'start_lease',
    ])
    for (const event of events) {
      assert.match(event.id, UUID)
      assert.match(event.time, DATE)
      const { id, event_type, time, created_at } = event
      assert.deepEqual(event, {
        id,
        lease_id: lease.id,
        event_type,
        time,
        status: 'UNDONE',
        created_at,
        updated_at: null,
      })
    }
    assert.deepEqual(await api.show(lease.id), lease)
    const { leases } = expectStatus(await api.get('/leases'), 200).body
    assert.deepEqual(
      leases.filter((each: Shown) => each.id === lease.id),
      [lease],
    )
    await api.end(lease.id)
  })

  const eventTime = (lease: Shown, type: string) =>
    lease.events.find((event: Shown) => event.event_type === type)?.time as string

  void test('events lie at the start, at the end, and an hour before the end', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })], { from: 60, to: 300 })
    assert.equal(eventTime(lease, 'start_lease'), lease.start_date)
    assert.equal(eventTime(lease, 'end_lease'), lease.end_date)
    assert.equal(minutesBetween(eventTime(lease, 'before_end_lease'), lease.end_date), 60)
    await api.end(lease.id)
  })

  void test('in a lease of less than an hour the warning comes at the start', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })], { from: 60, to: 90 })
    assert.equal(eventTime(lease, 'before_end_lease'), lease.start_date)
    await api.end(lease.id)
  })

  void test('before_end_date is taken when it lies inside the lease, and refused elsewhere', async () => {
    const { only } = await api.pool(1)
    const wanted = [instances({ resource_properties: only })]
    const now = await api.now()
    const given = { from: 60, to: 300, before_end_date: dateAt(now, 100) }
    const lease = await api.lease(wanted, given)
    assert.equal(eventTime(lease, 'before_end_lease').slice(0, 16).replace('T', ' '), given.before_end_date)
    await api.end(lease.id)
    for (const minutes of [10, 60, 300, 400]) {
      const window = { from: 60, to: 300, before_end_date: dateAt(await api.now(), minutes) }
      // The minute may have passed since, and then the edge is no edge any more.
      if (minutes === 60 || minutes === 300) Object.assign(window, await edges(minutes))
      expectError(await api.tryLease(wanted, window), 400, /before_end/)
    }
    for (const nothing of [null, '']) {
      const usual = await api.lease(wanted, { from: 60, to: 300, before_end_date: nothing })
      assert.equal(minutesBetween(eventTime(usual, 'before_end_lease'), usual.end_date), 60)
      await api.end(usual.id)
    }
  })

  const edges = async (minutes: number) => {
    const now = await api.now()
    const [start_date, end_date] = [dateAt(now, 60), dateAt(now, 300)]
    return { start_date, end_date, before_end_date: minutes === 60 ? start_date : end_date }
  }

  void test('a lease that starts now starts at once, at the minute that has begun', async () => {
    const { only } = await api.pool(1)
    const body = { start_date: 'now', end_date: await api.date(60) }
    const lease = await api.lease([instances({ resource_properties: only })], body)
    assert.match(lease.start_date, DATE)
    const before = (await api.now()) - Date.parse(`${lease.start_date}Z`)
    assert.ok(before >= 0 && before < 120_000)
    await api.until(lease.id, 'ACTIVE')
    await api.end(lease.id)
  })

  for (const [what, zone] of [
    ['seconds', ':30'],
    ['a fraction', ':30.250000'],
    ['UTC', ':00Z'],
  ] as const) {
    void test(`dates may have ${what}, as ISO 8601 has`, async () => {
      const { only } = await api.pool(1)
      const now = await api.now()
      const iso = (minutes: number) => `${dateAt(now, minutes).replace(' ', 'T')}${zone}`
      const window = { start_date: iso(60), end_date: iso(120) }
      const lease = await api.lease([instances({ resource_properties: only })], window)
      assert.equal(Date.parse(`${lease.start_date}Z`), Date.parse(iso(60).replace(/Z?$/, 'Z')))
      assert.equal(Date.parse(`${lease.end_date}Z`), Date.parse(iso(120).replace(/Z?$/, 'Z')))
      await api.end(lease.id)
    })
  }

  void test('a zone is taken into account', async () => {
    const { only } = await api.pool(1)
    const now = await api.now()
    const inRome = (minutes: number) => `${dateAt(now, minutes + 120).replace(' ', 'T')}:00+02:00`
    const window = { start_date: inRome(60), end_date: inRome(120) }
    const lease = await api.lease([instances({ resource_properties: only })], window)
    assert.equal(lease.start_date, `${dateAt(now, 60).replace(' ', 'T')}:00.000000`)
    await api.end(lease.id)
  })

  void test('a lease neither starts in the past nor ends before it starts', async () => {
    const { only } = await api.pool(1)
    const wanted = [instances({ resource_properties: only })]
    expectError(await api.tryLease(wanted, { from: -2, to: 60 }), 400, /start|past/i)
    expectError(await api.tryLease(wanted, { from: -60, to: -30 }), 400)
    expectError(await api.tryLease(wanted, { from: 60, to: 60 }), 400, /end/i)
    expectError(await api.tryLease(wanted, { from: 60, to: 30 }), 400, /end/i)
    expectError(await api.tryLease(wanted, { start_date: 'now', end_date: 'now' }), 400, /end/i)
    assert.deepEqual(await api.spread('none'), [])
  })

  void test('names need not be unique, and have 1 to 80 characters', async () => {
    const { only } = await api.pool(1)
    const wanted = [instances({ resource_properties: only })]
    const name = 'ä'.repeat(80)
    const [a, b] = [await api.lease(wanted, { name }), await api.lease(wanted, { name })]
    assert.deepEqual([a.name, b.name], [name, name])
    assert.notEqual(a.id, b.id)
    expectError(await api.tryLease(wanted, { name: 'a'.repeat(81) }), 400, /name/)
    expectError(await api.tryLease(wanted, { name: '' }), 400, /name/)
    expectError(await api.put(`/leases/${a.id}`, { name: 'a'.repeat(81) }), 400, /name/)
    await api.end(a.id)
    await api.end(b.id)
  })

  void test('numbers may come as text, unknown members are ignored, and so are events', async () => {
    const { only } = await api.pool(1)
    const wanted = instances({ vcpus: '2', memory_mb: '1024', disk_gb: '0', amount: '3', resource_properties: only })
    const more = { events: [{ event_type: 'x', time: 'never' }], unknown: { a: [1] }, trust_id: 'mine' }
    const lease = await api.lease([{ ...wanted, unknown: 1, id: 'mine', flavor_id: 'mine' }], more)
    const [reservation] = lease.reservations
    const { vcpus, memory_mb, disk_gb, amount } = reservation
    assert.deepEqual([vcpus, memory_mb, disk_gb, amount], [2, 1024, 0, 3])
    assert.equal(lease.events.length, 3)
    assert.equal(lease.trust_id, null)
    assert.notEqual(reservation.id, 'mine')
    assert.equal(reservation.flavor_id, reservation.id)
    await api.end(lease.id)
  })

  for (const [given, shown] of [
    [undefined, null],
    [null, null],
    ['None', null],
    [true, true],
    ['True', true],
    [false, false],
    ['False', false],
  ] as const) {
    void test(`affinity ${JSON.stringify(given)} is shown as ${shown}`, async () => {
      const { only } = await api.pool(1)
      const lease = await api.lease([instances({ affinity: given, resource_properties: only })])
      assert.equal(lease.reservations[0].affinity, shown)
      await api.end(lease.id)
    })
  }

  for (const given of ['', 'maybe', 0, 1, 'yes', [], {}]) {
    void test(`affinity ${JSON.stringify(given)} is refused`, async () => {
      expectError(await api.tryLease([instances({ affinity: given })]), 400, /affinity/)
    })
  }

  void test('a lease may have several reservations, also of different types', async () => {
    const { only } = await api.pool(2)
    const lease = await api.lease([
      instances({ resource_properties: only }),
      { resource_type: 'physical:host', min: 1, max: 1, hypervisor_properties: '', resource_properties: only },
      instances({ vcpus: 2, resource_properties: only }),
    ])
    assert.deepEqual(
      lease.reservations.map((each: Shown) => [each.resource_type, each.vcpus ?? null, each.min ?? null]),
      [
        ['virtual:instance', 1, null],
        ['physical:host', null, 1],
        ['virtual:instance', 2, null],
      ],
    )
    await api.end(lease.id)
  })

  void test('each reservation has a class and a flavor from the start, and they go with the lease', async () => {
    const { only } = await api.pool(1)
    const wanted = instances({ vcpus: 2, memory_mb: 1024, disk_gb: 5, resource_properties: only })
    const lease = await api.lease([wanted, wanted])
    for (const { id } of lease.reservations) {
      expectStatus(await api.placement.get(`/resource_classes/${classOf(id)}`), 200)
      const flavor = await api.flavor(id)
      assert.deepEqual(
        [flavor.id, flavor.name, flavor.vcpus, flavor.ram, flavor.disk, flavor['os-flavor-access:is_public']],
        [id, `reservation:${id}`, 2, 1024, 5, false],
      )
      const specs = await api.compute.get(`/flavors/${id}/os-extra_specs`, { version: null })
      assert.equal(specs.body.extra_specs[`resources:${classOf(id)}`], '1')
    }
    await api.end(lease.id)
    expectError(await api.get(`/leases/${lease.id}`), 404)
    for (const { id } of lease.reservations) {
      expectStatus(await api.placement.get(`/resource_classes/${classOf(id)}`), 404)
      assert.equal(await api.flavor(id), null)
    }
    assert.deepEqual(await api.classes(), [])
  })

  void test("nobody edits or deletes a reservation's flavor", async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })])
    const [{ id }] = lease.reservations
    const version = { version: null }
    expectStatus(await api.compute.del(`/flavors/${id}`, version), 409)
    expectStatus(await api.compute.post(`/flavors/${id}/os-extra_specs`, { extra_specs: { a: 'b' } }, version), 409)
    const mine = { addTenantAccess: { tenant: 'mine' } }
    expectStatus(await api.compute.post(`/flavors/${id}/action`, mine, version), 409)
    await api.end(lease.id)
  })

  void test('a lease belongs to its project: others find nothing there, and admins all', async () => {
    const { only } = await api.pool(1)
    const [alice, bob] = [as('alice', 'p1'), as('bob', 'p2')]
    const lease = await api.lease([instances({ resource_properties: only })], {}, alice)
    assert.deepEqual([lease.user_id, lease.project_id], ['alice', 'p1'])
    const [{ id }] = lease.reservations

    const missing = '00000000-0000-4000-8000-000000000000'
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { name: 'mine' }],
      ['PUT', { reservations: [{ id, amount: 2 }] }],
      ['DELETE', undefined],
    ] as const) {
      const foreign = expectError(await api.request(method, `/leases/${lease.id}`, body, bob), 404)
      const absent = expectError(await api.request(method, `/leases/${missing}`, body, bob), 404)
      assert.equal(foreign.body.error_message.replace(lease.id, missing), absent.body.error_message)
    }
    const listed = async (who?: ReturnType<typeof as>) =>
      (await api.get('/leases', who)).body.leases.map((each: Shown) => each.id)
    assert.deepEqual(await listed(bob), [])
    assert.deepEqual(await listed(alice), [lease.id])
    assert.deepEqual(await listed(as('carol', 'p1')), [lease.id])
    assert.ok((await listed()).includes(lease.id))
    assert.deepEqual(await api.show(lease.id, alice), lease)
    assert.deepEqual(await api.show(lease.id), lease)

    const reader = as('rita', 'p1', 'reader')
    assert.deepEqual(await api.show(lease.id, reader), lease)
    expectError(await api.put(`/leases/${lease.id}`, { name: 'x' }, reader), 403)
    expectError(await api.del(`/leases/${lease.id}`, reader), 403)
    expectError(await api.tryLease([instances()], {}, reader), 403)
    expectError(await api.get('/leases', as('nobody', 'p1', '')), 403)
    assert.equal((await api.update(lease.id, { name: 'y' }, as('carol', 'p1'))).name, 'y')
    expectStatus(await api.del(`/leases/${lease.id}`, as('carol', 'p1')), 204)
  })
})
