// What fits: a host is never promised beyond its capacity at any instant, and nothing that fits is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { as } from '../support/callers.ts'
import { expectStatus } from '../support/placement.ts'
import { dateAt, eachReservation, expectError, instances, type Shown, wholeHosts } from '../support/reservation.ts'

eachReservation('capacity', api => {
  const ids = (lease: Shown): string[] => lease.reservations.map((each: Shown) => each.id)

  void test('more instances than hosts: several slots on a host', async () => {
    const { only } = await api.pool(2)
    const lease = await api.lease([instances({ vcpus: 2, amount: 6, resource_properties: only })])
    assert.deepEqual(await api.spread(ids(lease)[0]!), [4, 2])
    await api.end(lease.id)
  })

  void test('affinity true: all on one host, or not at all', async () => {
    const { only } = await api.pool(2)
    const wanted = (amount: number) => [instances({ vcpus: 2, amount, affinity: true, resource_properties: only })]
    const lease = await api.lease(wanted(4))
    assert.deepEqual(await api.spread(ids(lease)[0]!), [4])
    expectError(await api.tryLease(wanted(5)), 409)
    const second = await api.lease(wanted(4))
    expectError(await api.tryLease(wanted(1)), 409)
    await api.end(lease.id)
    await api.end(second.id)
    expectError(await api.tryLease(wanted(5)), 409)
  })

  void test('affinity false: each on another host, and so no more than hosts', async () => {
    const { only } = await api.pool(3)
    const wanted = (amount: number) => [instances({ amount, affinity: false, resource_properties: only })]
    const lease = await api.lease(wanted(3))
    assert.deepEqual(await api.spread(ids(lease)[0]!), [1, 1, 1])
    expectError(await api.tryLease(wanted(4)), 409)
    await api.end(lease.id)
  })

  for (const [what, size, fits] of [
    ['vcpus', { vcpus: 2 }, 4],
    ['memory_mb', { memory_mb: 4096 }, 4],
    ['disk_gb', { disk_gb: 66 }, 3],
  ] as const) {
    void test(`${what} are counted slot by slot, in one lease and over several`, async () => {
      const { only } = await api.pool(1)
      const wanted = (amount: number) => [instances({ ...size, amount, resource_properties: only })]
      expectError(await api.tryLease(wanted(fits + 1)), 409)
      const most = await api.lease(wanted(fits - 1))
      expectError(await api.tryLease(wanted(2)), 409)
      const last = await api.lease(wanted(1))
      expectError(await api.tryLease(wanted(1)), 409)
      await api.end(most.id)
      const again = await api.lease(wanted(fits - 1))
      await api.end(again.id)
      await api.end(last.id)
    })
  }

  void test('an instance larger than every host is refused, whatever is free', async () => {
    const { only } = await api.pool(3)
    expectError(await api.tryLease([instances({ vcpus: 9, resource_properties: only })]), 409)
  })

  void test('capacity is total − reserved, and the ratio is not for sale', async () => {
    const name = 'ratio'
    const provider = await api.placement.provider({}, { name })
    const terms = (total: number) => ({ total, reserved: 0, allocation_ratio: 16 })
    const inventories = { VCPU: { ...terms(8), reserved: 2 }, MEMORY_MB: terms(16_384), DISK_GB: terms(200) }
    expectStatus(await api.placement.setInventories(provider, inventories), 200)
    const { host } = expectStatus(await api.post('/os-hosts', { name, pool: name }), 201).body
    assert.equal(host.vcpus, 6)
    const only = `["=", "$pool", "${name}"]`
    expectError(await api.tryLease([instances({ amount: 7, resource_properties: only })]), 409)
    const lease = await api.lease([instances({ amount: 6, resource_properties: only })])
    await api.end(lease.id)
  })

  void test('reservations of one lease count against each other, and all fit or none', async () => {
    const { only } = await api.pool(1)
    const half = instances({ vcpus: 4, resource_properties: only })
    const before = await api.classes()
    expectError(await api.tryLease([half, half, half]), 409)
    assert.deepEqual(await api.classes(), before)
    const flavors = await api.compute.get('/flavors?is_public=None', { version: null })
    assert.ok(!flavors.body.flavors.some((each: Shown) => each.name.startsWith('reservation:')))
    const lease = await api.lease([half, half])
    expectError(await api.tryLease([instances({ resource_properties: only })]), 409)
    await api.end(lease.id)
  })

  void test('windows are half open: one lease may begin when another ends, at full load', async () => {
    const { only } = await api.pool(1)
    const full = [instances({ vcpus: 8, resource_properties: only })]
    const now = await api.now()
    const window = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
    const second = await api.lease(full, window(120, 180))
    const first = await api.lease(full, window(60, 120))
    const third = await api.lease(full, window(180, 240))
    for (const [from, to] of [
      [119, 121],
      [60, 61],
      [239, 300],
      [30, 400],
      [130, 140],
    ] as const) {
      expectError(await api.tryLease(full, window(from, to)), 409)
    }
    for (const lease of [first, second, third]) await api.end(lease.id)
  })

  void test('only what overlaps at the same instant adds up', async () => {
    const { only } = await api.pool(1)
    const half = [instances({ vcpus: 4, resource_properties: only })]
    const now = await api.now()
    const window = (from: number, to: number) => ({ start_date: dateAt(now, from), end_date: dateAt(now, to) })
    const long = await api.lease(half, window(60, 300))
    const early = await api.lease(half, window(60, 120))
    const late = await api.lease(half, window(240, 300))
    // Between the two there is room for half a host, and beside either there is none.
    const between = await api.lease(half, window(120, 240))
    expectError(await api.tryLease(half, window(119, 240)), 409)
    expectError(await api.tryLease(half, window(120, 241)), 409)
    for (const lease of [long, early, late, between]) await api.end(lease.id)
  })

  void test('instances go where others are already, so that whole hosts stay free', async () => {
    const { only } = await api.pool(3)
    const one = [instances({ resource_properties: only })]
    const leases = []
    for (let i = 0; i < 4; i++) leases.push(await api.lease(one))
    const hosts = wholeHosts({ min: 2, max: 2, resource_properties: only })
    leases.push(await api.lease([hosts]))
    for (const lease of leases) await api.end(lease.id)
  })

  void test('a refusal says which hosts lacked what and when, and when it would fit', async () => {
    const { only, names } = await api.pool(2)
    const full = instances({ vcpus: 8, amount: 2, resource_properties: only })
    const now = await api.now()
    const blocking = await api.lease([full], { start_date: dateAt(now, 60), end_date: dateAt(now, 180) })
    const wanted = [instances({ vcpus: 4, resource_properties: only })]
    const window = { start_date: dateAt(now, 100), end_date: dateAt(now, 130) }
    const refused = expectError(await api.tryLease(wanted, window), 409, /vcpus|VCPU/i)
    assert.ok(
      names.some(name => refused.body.error_message.includes(name)),
      refused.body.error_message,
    )
    const { reasons, windows } = refused.body.details
    assert.ok(reasons.length > 0)
    assert.equal(reasons[0].reservation, 0)
    assert.ok(windows.length > 0)
    assert.equal(windows[0].start_date, blocking.end_date)
    assert.ok(refused.body.error_message.includes(blocking.end_date.slice(11, 16)), refused.body.error_message)
    for (const found of windows) {
      const lease = await api.lease(wanted, found)
      await api.end(lease.id)
    }
    await api.end(blocking.id)
  })

  void test('members are told how many hosts lacked what and when it would fit, but of no host and no booking', async () => {
    const { names, only } = await api.pool(2)
    const lease = await api.lease([instances({ vcpus: 2, amount: 7, resource_properties: only })])
    const wanted = [instances({ vcpus: 2, amount: 2, resource_properties: only })]
    const member = as('member', 'someone-else')
    const { body } = expectError(await api.tryLease(wanted, {}, member), 409)
    const explained = expectStatus(await api.explain(wanted, {}, member), 200).body
    for (const { reasons, windows } of [body.details, explained]) {
      assert.deepEqual(
        reasons
          .filter(({ reason }: Shown) => reason !== 'does not match')
          .map(({ reason, count, sample }: Shown) => ({ reason, count, sample }))
          .toSorted((a: Shown, b: Shown) => (a.reason < b.reason ? -1 : 1)),
        [
          { reason: 'booked', count: 1, sample: [] },
          { reason: 'room for fewer', count: 1, sample: [] },
        ],
      )
      assert.equal(windows[0].start_date, lease.end_date)
    }
    assert.match(body.error_message, /asks for 2 of 2 vcpus.*1 booked; .*It would fit from /)
    const later = expectStatus(await api.explain(wanted, { from: 180, to: 240 }, member), 200).body
    assert.deepEqual([later.fits, later.places], [true, [{ '#1': 2 }]])
    const own = await api.lease(wanted, { from: 180, to: 240 }, member)
    const moved = { start_date: lease.start_date, end_date: lease.end_date }
    const change = expectError(await api.put(`/leases/${own.id}`, moved, member), 409)
    for (const told of [body, explained, later, change.body]) {
      for (const name of names) assert.ok(!JSON.stringify(told).includes(name), name)
      assert.doesNotMatch(JSON.stringify(told), /booked from|of 8/)
    }
    await api.end(lease.id)
    await api.end(own.id)
  })

  void test('of many who want the last slots at once as many win as there are', async () => {
    const { only } = await api.pool(2)
    const now = await api.now()
    const window = { start_date: dateAt(now, 60), end_date: dateAt(now, 120) }
    const wanted = [instances({ vcpus: 2, resource_properties: only })]
    const answers = await Promise.all(Array.from({ length: 24 }, () => api.tryLease(wanted, window)))
    const won = answers.filter(({ status }) => status === 201)
    assert.equal(won.length, 8)
    for (const answer of answers) expectStatus(answer, 201, 409)
    for (const { body } of won) await api.end(body.lease.id)
  })

  void test('leases that grow at the same time never grow beyond the host', async () => {
    const { only } = await api.pool(1)
    const leases = []
    for (let i = 0; i < 4; i++) leases.push(await api.lease([instances({ resource_properties: only })]))
    const answers = await Promise.all(
      leases.map(lease => api.put(`/leases/${lease.id}`, { reservations: [{ id: ids(lease)[0], amount: 3 }] })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 2)
    for (const answer of answers) expectStatus(answer, 200, 409)
    const slots = await Promise.all(leases.map(lease => api.spread(ids(lease)[0]!)))
    assert.equal(
      slots.flat().reduce((sum, count) => sum + count, 0),
      8,
    )
    for (const lease of leases) await api.end(lease.id)
  })

  void test('of many who delete a lease at once one does', async () => {
    const { only } = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: only })])
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.del(`/leases/${lease.id}`)))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [204, ...Array(7).fill(404)],
    )
  })

  void test('a deleted lease leaves its room to the next, to the last slot', async () => {
    const { only } = await api.pool(1)
    const full = [instances({ vcpus: 1, amount: 8, resource_properties: only })]
    for (let i = 0; i < 3; i++) {
      const lease = await api.lease(full)
      assert.deepEqual(await api.spread(ids(lease)[0]!), [8])
      expectError(await api.tryLease([instances({ resource_properties: only })]), 409)
      await api.end(lease.id)
    }
    assert.deepEqual(await api.classes(), [])
  })
})
