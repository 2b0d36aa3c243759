// Leases of nodes from their start to their end: their projects use them, and whatever becomes of a node, the lease is kept.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Baremetal, expectFault, waitFor } from '../support/baremetal.ts'
import type { Options } from '../support/client.ts'
import { eachIdentity, inProject } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { as, eachReservation, expectError, Reservation, type Shown } from '../support/reservation.ts'

const [alice, mallory] = [as('alice', 'p1'), as('mallory', 'p2')]

let classes = 0
const newClass = () => `kept-${++classes}`

/** Available nodes, enrolled for leasing. */
async function enrolled(api: Reservation, metal: Baremetal, count: number, attributes: object = {}) {
  const resource_class = newClass()
  const nodes: string[] = []
  for (let i = 0; i < count; i++) nodes.push(await metal.node({ resource_class, ...attributes }, 'available'))
  for (const node of nodes) expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200, 201, 204)
  return { resource_class, nodes: nodes as [string, ...string[]] }
}
const wanted = (resource_class: string, more: object = {}) => [
  { resource_type: 'physical:node', resource_class, min: 1, max: 1, ...more },
]

eachReservation('leased nodes', api => {
  const metal = new Baremetal()
  before(() => (metal.origins = metal.placement.origins = api.origins))
  after(() => metal.close())

  const given = (lease: Shown): Shown[] => lease.reservations[0].nodes
  const flags = ({ degraded, reservations: [one] }: Shown) => [degraded, one.missing_resources, one.resources_changed]
  const maintenance = async (node: string, isOn: boolean) =>
    expectStatus(await metal[isOn ? 'put' : 'del'](`/v1/nodes/${node}/maintenance`, isOn ? {} : undefined), 202)
  const seen = async (node: string, who: Options) => (await metal.get(`/v1/nodes/${node}`, who)).status
  /** A lease that has started, on nodes of its own. */
  async function running(count: number, more: object = {}, attributes: object = {}) {
    const pool = await enrolled(api, metal, count, attributes)
    const lease = await api.lease(wanted(pool.resource_class, more), { from: 5, to: 600 }, alice)
    await api.advance(6)
    return { ...pool, lease: await api.until(lease.id, 'ACTIVE') }
  }
  /** Lets healing look until the lease is as expected. */
  const healed = (lease: string, isSo: (lease: Shown) => boolean): Promise<Shown> =>
    waitFor('the lease is whole', async () => {
      await api.advance(0)
      const shown = await api.show(lease)
      return isSo(shown) && shown
    })

  void test('are their project’s to see, deploy, power and undeploy, and nobody else’s, until the end', async () => {
    const { nodes, lease } = await running(1)
    const [node] = nodes
    assert.equal((await metal.show(node)).lessee, 'p1')
    assert.deepEqual([await seen(node, alice), await seen(node, mallory)], [200, 404])
    expectStatus(await metal.provision(node, 'active', {}, mallory), 404)
    expectStatus(await metal.provision(node, 'active', {}, alice), 202)
    await metal.until(node, 'active')
    expectStatus(await metal.put(`/v1/nodes/${node}/states/power`, { target: 'power off' }, alice), 202)
    await waitFor('it is off', async () => (await metal.show(node)).power_state === 'power off')
    expectStatus(await metal.provision(node, 'deleted', {}, alice), 202)
    await metal.until(node, 'available')
    await api.end(lease.id)
    assert.deepEqual([await seen(node, alice), (await metal.show(node)).lessee], [404, null])
    expectStatus(await metal.provision(node, 'active', {}, alice), 404)
  })

  void test('have the lessee again that they had before, or whom someone named meanwhile', async () => {
    const { nodes, lease } = await running(2, { min: 2, max: 2 }, { lessee: 'before' })
    const [restored, renamed] = nodes as unknown as [string, string]
    assert.deepEqual([(await metal.show(restored)).lessee, (await metal.show(renamed)).lessee], ['p1', 'p1'])
    expectStatus(await metal.change(renamed, 'lessee', 'meanwhile'), 200)
    await api.advance(600)
    await api.until(lease.id, 'TERMINATED')
    assert.equal((await metal.show(restored)).lessee, 'before')
    assert.equal((await metal.show(renamed)).lessee, 'meanwhile')
  })

  void test('stay with the lease when they are undeployed, and can be deployed again', async () => {
    const { nodes, lease } = await running(1)
    const [node] = nodes
    await metal.go(node, 'active', 'active')
    const undeployed = await metal.go(node, 'deleted', 'available')
    assert.equal(undeployed.instance_uuid, given(lease)[0].allocation)
    await api.fsck()
    await metal.go(node, 'active', 'active')
    await api.advance(600)
    await api.until(lease.id, 'TERMINATED')
    assert.equal((await metal.until(node, 'available')).instance_uuid, null)
  })

  void test('are let go only by the lease; in maintenance by their project, and then another takes the place', async () => {
    const { nodes, lease, resource_class } = await running(1)
    const [node] = nodes
    const [{ allocation }] = given(lease)
    await metal.go(node, 'active', 'active')
    expectStatus(await metal.del(`/v1/allocations/${allocation}`, alice), 409)
    expectStatus(await metal.change(node, 'instance_uuid', undefined, alice), 409)
    await maintenance(node, true)
    const other = await metal.node({ resource_class }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${other}`), 200, 201)
    // In maintenance too it is the lessee's while a machine is on it.
    await api.advance(0)
    assert.deepEqual(given(await api.show(lease.id)), [{ node, name: null, allocation }])
    expectStatus(await metal.del(`/v1/allocations/${allocation}`, alice), 204)
    const after = await healed(lease.id, shown => given(shown)[0].node === other)
    assert.notEqual(given(after)[0].allocation, null)
    assert.deepEqual(flags(after), [true, false, true])
    assert.deepEqual([await seen(node, alice), await seen(other, alice)], [404, 200])
    await api.fsck()
    // What they left on it is torn down as soon as that may be.
    await maintenance(node, false)
    await api.advance(0)
    await metal.until(node, 'available')
    await api.end(lease.id)
  })

  void test('that were let go are emptied and given again when no other is free', async () => {
    const { nodes, lease } = await running(1)
    const [node] = nodes
    const [{ allocation }] = given(lease)
    await metal.go(node, 'active', 'active')
    await maintenance(node, true)
    expectStatus(await metal.change(node, 'instance_uuid', undefined, alice), 200)
    await healed(lease.id, ({ degraded }) => degraded)
    await api.fsck()
    await maintenance(node, false)
    const after = await healed(lease.id, ({ degraded }) => !degraded)
    assert.equal(given(after)[0].node, node)
    assert.notEqual(given(after)[0].allocation, allocation)
    assert.equal((await metal.show(node)).provision_state, 'available')
    // Let go once more, and this time the lease ends first.
    await metal.go(node, 'active', 'active')
    await maintenance(node, true)
    expectStatus(await metal.change(node, 'instance_uuid', undefined, alice), 200)
    await api.end(lease.id)
    assert.equal(await seen(node, alice), 404)
    await maintenance(node, false)
    await waitFor('it is empty', async () => {
      await api.advance(1)
      return (await metal.show(node)).provision_state === 'available'
    })
  })

  void test('are not deployed, rebuilt or adopted without an instance once they are enrolled', async () => {
    const { resource_class, nodes } = await enrolled(api, metal, 1)
    const [node] = nodes
    const lease = await api.lease(wanted(resource_class), { from: 5, to: 60 })
    expectFault(await metal.provision(node, 'active'), 409, /enrolled for leasing/)
    await metal.go(node, 'manage', 'manageable')
    expectFault(await metal.provision(node, 'adopt'), 409, /enrolled for leasing/)
    await metal.go(node, 'provide', 'available')
    await api.advance(6)
    await api.until(lease.id, 'ACTIVE')
    await api.end(lease.id)
  })

  void test('are exchanged when they are in maintenance at the start, and others are free', async () => {
    const { resource_class, nodes } = await enrolled(api, metal, 2)
    const lease = await api.lease(wanted(resource_class, { max: 2 }), { from: 5, to: 60 })
    const third = await metal.node({ resource_class }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${third}`), 200, 201)
    await maintenance(nodes[0], true)
    await api.advance(6)
    const after = await healed(lease.id, ({ status, degraded }) => status === 'ACTIVE' && !degraded)
    assert.deepEqual(new Set(given(after).map(({ node }) => node)), new Set([nodes[1], third]))
    assert.ok(given(after).every(({ allocation }) => allocation !== null))
    assert.deepEqual(flags(after), [false, false, false])
    await api.end(lease.id)
  })

  void test('that can not be had at the start come later, when the fewest that were asked for are there', async () => {
    const { resource_class, nodes } = await enrolled(api, metal, 2)
    const lease = await api.lease(wanted(resource_class, { max: 2 }), { from: 5, to: 60 }, alice)
    await maintenance(nodes[0], true)
    await api.advance(6)
    const started = await api.until(lease.id, 'ACTIVE')
    assert.deepEqual(flags(started), [true, true, false])
    assert.equal(given(started).filter(({ allocation }) => allocation !== null).length, 1)
    await api.fsck()
    await maintenance(nodes[0], false)
    const after = await healed(lease.id, ({ degraded }) => !degraded)
    assert.ok(given(after).every(({ allocation }) => allocation !== null))
    assert.equal(await seen(nodes[0], alice), 200)
    await api.end(lease.id)
  })

  void test('keep their class and traits while they are booked; in maintenance they may change, and the lease moves', async () => {
    const { resource_class, nodes } = await enrolled(api, metal, 2)
    for (const node of nodes) expectStatus(await metal.put(`/v1/nodes/${node}/traits/CUSTOM_A`), 204)
    const lease = await api.lease(wanted(resource_class, { traits: ['CUSTOM_A'] }), { from: 90, to: 150 })
    const [{ node }] = given(lease)
    expectFault(await metal.change(node, 'resource_class', 'other'), 409, /booked/)
    expectFault(await metal.del(`/v1/nodes/${node}/traits/CUSTOM_A`), 409, /booked/)
    expectStatus(await metal.put(`/v1/nodes/${node}/traits/CUSTOM_B`), 204)
    await maintenance(node, true)
    expectStatus(await metal.del(`/v1/nodes/${node}/traits/CUSTOM_A`), 204)
    await maintenance(node, false)
    // Too early to move; an hour before the start it is time.
    assert.deepEqual(given(await api.show(lease.id)), [{ node, name: null, allocation: null }])
    await api.advance(91)
    const after = await healed(lease.id, ({ status }) => status === 'ACTIVE')
    assert.equal(
      given(after)[0].node,
      nodes.find(each => each !== node),
    )
    await api.end(lease.id)
  })

  void test('can be booked only when they are available, or will be without anybody’s doing', async () => {
    const resource_class = newClass()
    const node = await metal.node({ resource_class })
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200, 201)
    const refused = async () => expectError(await api.tryLease(wanted(resource_class)), 409, /not made available/)
    await refused()
    await metal.go(node, 'manage', 'manageable')
    await refused()
    await metal.go(node, 'provide', 'available')
    const lease = await api.lease(wanted(resource_class), { from: 1, to: 60 })
    await api.advance(2)
    await api.until(lease.id, 'ACTIVE')
    await metal.go(node, 'active', 'active')
    // Now someone's, and given back when that lease ends.
    const next = await api.lease(wanted(resource_class), { from: 60, to: 90 })
    await api.end(next.id)
    await api.end(lease.id)
  })

  void test('whose power nobody knows yet are nobody’s to book', async () => {
    const resource_class = newClass()
    const made = await metal.post('/v1/nodes', { driver: 'fake-hardware' }, { version: '1.6' })
    const node = expectStatus(made, 201).body.uuid
    expectStatus(await metal.change(node, 'resource_class', resource_class), 200)
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200, 201)
    expectError(await api.tryLease(wanted(resource_class)), 409, /not made available/)
    expectStatus(await metal.put(`/v1/nodes/${node}/states/power`, { target: 'power off' }), 202)
    await waitFor('it is off', async () => (await metal.show(node)).power_state === 'power off')
    await api.end((await api.lease(wanted(resource_class))).id)
  })

  void test('that run without an instance are nobody’s to book', async () => {
    const resource_class = newClass()
    const node = await metal.node({ resource_class }, 'active')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200, 201)
    expectError(await api.tryLease(wanted(resource_class)), 409, /not made available/)
    expectFault(await metal.provision(node, 'rebuild'), 409, /enrolled for leasing/)
    await metal.go(node, 'deleted', 'available')
    await api.end((await api.lease(wanted(resource_class))).id)
  })

  for (const [state, info] of Object.entries({
    'deploy failed': { fake_fail: ['deploy'] },
    'wait call-back': { fake_wait: { deploy: 600 } },
    rescue: {},
  })) {
    void test(`are torn down at the end from "${state}" too`, async () => {
      const { nodes, lease } = await running(1, {}, { driver_info: info, rescue_interface: 'fake' })
      const [node] = nodes
      if (state === 'rescue') {
        await metal.go(node, 'active', 'active')
        await metal.go(node, 'rescue', 'rescue', { rescue_password: 'secret' })
      } else await metal.go(node, 'active', state)
      await api.advance(600)
      await api.until(lease.id, 'TERMINATED')
      assert.equal((await metal.until(node, 'available')).instance_uuid, null)
    })
  }

  void test('that could not be torn down by their project are so at the end', async () => {
    const { nodes, lease } = await running(1, {}, { driver_info: { fake_fail: ['tearDown'] } })
    const [node] = nodes
    await metal.go(node, 'active', 'active')
    await metal.go(node, 'deleted', 'error')
    assert.equal((await metal.show(node)).instance_uuid, given(lease)[0].allocation)
    expectStatus(await metal.change(node, 'driver_info', {}), 200)
    await api.end(lease.id)
    assert.equal((await metal.until(node, 'available')).instance_uuid, null)
  })

  void test('that someone takes out of service are exchanged while no machine is on them', async () => {
    const { resource_class, nodes, lease } = await running(1)
    const [node] = nodes
    const other = await metal.node({ resource_class }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${other}`), 200, 201)
    await metal.go(node, 'manage', 'manageable')
    const after = await healed(lease.id, shown => given(shown)[0].node === other)
    assert.deepEqual(flags(after), [true, false, true])
    assert.deepEqual([await seen(node, alice), await seen(other, alice)], [404, 200])
    await api.end(lease.id)
  })

  void test('that can not be cleaned after an undeploy are exchanged', async () => {
    const { resource_class, nodes, lease } = await running(1)
    const [node] = nodes
    const other = await metal.node({ resource_class }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${other}`), 200, 201)
    await metal.go(node, 'active', 'active')
    expectStatus(await metal.change(node, 'driver_info', { fake_fail: ['clean'] }), 200)
    await metal.go(node, 'deleted', 'clean failed')
    const after = await healed(lease.id, shown => given(shown)[0].node === other)
    assert.equal((await metal.show(other)).instance_uuid, given(after)[0].allocation)
    assert.deepEqual([await seen(node, alice), await seen(other, alice)], [404, 200])
    await api.end(lease.id)
  })

  void test('that the lease before can not give back are exchanged for others', async () => {
    const { resource_class, nodes, lease } = await running(1)
    const [node] = nodes
    await metal.go(node, 'active', 'active')
    expectStatus(await metal.change(node, 'protected', true), 200)
    const next = await api.lease(wanted(resource_class), { from: 600, to: 660 }, mallory)
    const other = await metal.node({ resource_class }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${other}`), 200, 201)
    await api.advance(601)
    const after = await healed(next.id, ({ status }) => status === 'ACTIVE')
    assert.equal(given(after)[0].node, other)
    assert.equal((await api.show(lease.id)).status, 'TERMINATING')
    assert.deepEqual([await seen(node, alice), await seen(node, mallory)], [404, 404])
    await api.fsck()
    expectStatus(await metal.change(node, 'protected', false), 200)
    await waitFor('it is over', async () => {
      await api.advance(1)
      return (await api.show(lease.id)).status === 'TERMINATED'
    })
    await metal.until(node, 'available')
    await api.end(next.id)
  })

  void test('are not exchanged to and fro for others that can not be had either', async () => {
    const { resource_class, nodes } = await running(2, { min: 2, max: 2 })
    for (const node of nodes) {
      await metal.go(node, 'active', 'active')
      expectStatus(await metal.change(node, 'protected', true), 200)
    }
    const next = await api.lease(wanted(resource_class), { from: 600, to: 9_000 }, mallory)
    await api.advance(601)
    const booked = new Set<string>()
    for (let looks = 0; looks < 20; looks++) {
      await api.advance(0)
      const { status, reservations } = await api.show(next.id)
      assert.equal(status, 'STARTING')
      booked.add(reservations[0].nodes[0].node)
    }
    assert.equal(booked.size, 1)
    for (const node of nodes) expectStatus(await metal.change(node, 'protected', false), 200)
    await waitFor('it starts', async () => {
      await api.advance(1)
      return (await api.show(next.id)).status === 'ACTIVE'
    })
    await api.end(next.id)
  })
})

eachIdentity(
  'leased nodes with passwords',
  ({ api: identity }) => {
    const [api, metal] = [new Reservation(), new Baremetal()]
    before(() => {
      api.at(...identity.origins)
      metal.origins = metal.placement.origins = identity.origins
    })
    after(() => {
      api.close()
      metal.close()
    })

    void test('let the lease’s members in, not its readers or others, and not after the end', async () => {
      const token = async (name: string, project: string) => ({ token: await identity.token(name, inProject(project)) })
      const [admin, bob, carol, nova] = [
        await token('alice', 'lab'),
        await token('bob', 'lab'),
        await token('carol', 'lab'),
        await token('carol', 'office'),
      ]
      const operate = (method: string, path: string, body?: object) => metal.operator(method, path, body, admin)
      const created = await metal.post('/v1/nodes', { driver: 'fake-hardware', resource_class: 'kept' }, admin)
      const node: string = expectStatus(created, 201).body.uuid
      const until = (state: string) =>
        waitFor(`it is ${state}`, async () => {
          const { body } = await metal.get(`/v1/nodes/${node}`, admin)
          return body.provision_state === state && body.reservation === null
        })
      for (const [verb, state] of [
        ['manage', 'manageable'],
        ['provide', 'available'],
      ] as const) {
        expectStatus(await metal.provision(node, verb, {}, admin), 202)
        await until(state)
      }
      expectStatus(await operate('PUT', `/leasable-nodes/${node}`), 200, 201)
      const { body: clock } = await operate('GET', '/clock')
      const at = (minutes: number) =>
        new Date(Date.parse(clock.now) + minutes * 60_000).toISOString().slice(0, 16).replace('T', ' ')
      const body = { name: 'mine', start_date: at(2), end_date: at(60), reservations: wanted('kept') }
      const { lease } = expectStatus(await api.post('/leases', body, bob), 201).body
      const seen = async (who: Options) => (await metal.get(`/v1/nodes/${node}`, who)).status
      assert.deepEqual([await seen(bob), await seen(nova)], [404, 404])
      const advance = async (minutes: number, status: string) => {
        expectStatus(await operate('POST', '/clock', { advance: minutes * 60 }), 200)
        await waitFor(status, async () => (await api.get(`/leases/${lease.id}`, bob)).body.lease.status === status)
      }
      await advance(3, 'ACTIVE')
      assert.deepEqual([await seen(bob), await seen(carol), await seen(nova)], [200, 200, 404])
      expectStatus(await metal.provision(node, 'active', {}, nova), 404)
      expectStatus(await metal.provision(node, 'active', {}, carol), 403)
      for (const [verb, state] of [
        ['active', 'active'],
        ['deleted', 'available'],
        ['active', 'active'],
      ] as const) {
        expectStatus(await metal.provision(node, verb, {}, bob), 202)
        await until(state)
      }
      expectStatus(await metal.put(`/v1/nodes/${node}/states/power`, { target: 'power off' }, bob), 202)
      await advance(60, 'TERMINATED')
      assert.equal(await seen(bob), 404)
      expectStatus(await metal.provision(node, 'active', {}, bob), 404)
    })
  },
  { testClock: true },
)
