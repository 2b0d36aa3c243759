// What the log says: each deed, by a client, a duty or a conductor, says what became of each object, whose it is, and
// what there is to know.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/clock/clock.ts'
import { signIn } from '../../src/metal/conductors/rows.ts'
import { openStore } from '../../src/store/open.ts'
import { Baremetal, NEWEST, waitFor } from '../support/baremetal.ts'
import { Compute } from '../support/compute.ts'
import { Log, type Told, TYPES } from '../support/told-events.ts'
import { consumerBody, expectStatus } from '../support/placement.ts'
import { as, eachReservation, instances } from '../support/reservation.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const alice = as('alice', 'p1')
const SECRET = { driver_info: { fake_password: 'hunter2' } }
const MINUTE_MS = 60_000

const typesOf = (events: readonly Told[]) => events.map(({ type }) => type.split('.')[1]!)
const last = (events: readonly Told[]) => events.at(-1)!

eachReservation('what the log says', api => {
  const metal = new Baremetal()
  const compute = new Compute()
  const log = new Log()
  before(() => {
    metal.origins = metal.placement.origins = api.origins
    compute.reach([...api.origins])
    log.at(...api.origins)
  })
  after(() => [metal, compute, log].forEach(each => each.close()))

  let classes = 0
  const newClass = () => `content-${++classes}`
  const inMinutes = async (minutes: number) => new Date((await api.now()) + minutes * MINUTE_MS).toISOString()
  const told = (kind: string, id: string, word: string) =>
    waitFor(`${kind} ${id} became ${word}`, async () => {
      const events = await log.of(kind, id)
      return last(events)?.type === `${kind}.${word}` && events
    })
  const mine = { token: 'alice:p1', headers: { 'x-roles': 'member' }, ...NEWEST }

  void test('a node, from its enrolment to its end', async () => {
    const resource_class = newClass()
    const node = await metal.node({ name: resource_class, resource_class, owner: 'p1', lessee: 'p2', ...SECRET })
    await metal.go(node, 'manage', 'manageable')
    await metal.go(node, 'provide', 'available')
    expectStatus(await metal.put(`/v1/nodes/${node}/states/power`, { target: 'power on' }), 202)
    await waitFor('the power is on', async () => (await metal.show(node)).power_state === 'power on')
    expectStatus(await metal.put(`/v1/nodes/${node}/maintenance`, { reason: 'a fan' }), 202)
    expectStatus(await metal.del(`/v1/nodes/${node}/maintenance`), 202)
    expectStatus(await metal.put(`/v1/nodes/${node}/traits`, { traits: ['CUSTOM_A', 'CUSTOM_B'] }), 204)
    expectStatus(await metal.del(`/v1/nodes/${node}/traits/CUSTOM_A`), 204)
    expectStatus(await metal.change(node, 'extra', { a: 1 }), 200)
    expectStatus(await metal.change(node, 'driver_info/fake_password', 'hunter2hunter2'), 200)
    expectStatus(await metal.del(`/v1/nodes/${node}`), 204)
    const events = await log.of('node', node)
    const path = events
      .filter(({ type }) => type === 'node.provision_state')
      .map(({ data }) => `${data.from} → ${data.to}`)
    assert.deepEqual(path, [
      'enroll → verifying',
      'verifying → manageable',
      'manageable → cleaning',
      'cleaning → available',
    ])
    for (const { whose } of events) assert.deepEqual(whose, { owner: 'p1', lessee: 'p2' })
    const of = (word: string) => events.filter(({ type }) => type === `node.${word}`).map(({ data }) => data)
    assert.deepEqual(of('created'), [{ name: resource_class, resource_class, provision_state: 'enroll' }])
    assert.equal(of('power_state').at(-1).to, 'power on')
    assert.deepEqual(
      of('maintenance').map(({ maintenance, reason }) => [maintenance, reason]),
      [
        [true, 'a fan'],
        [false, null],
      ],
    )
    assert.deepEqual(
      of('traits').map(({ added, removed }) => [added, removed]),
      [
        [['CUSTOM_A', 'CUSTOM_B'], []],
        [[], ['CUSTOM_A']],
      ],
    )
    assert.deepEqual(
      of('changed').map(({ fields }) => fields),
      [['extra'], ['driver_info']],
    )
    assert.equal(last(events).type, 'node.deleted')
    const conductors = events.filter(({ user }) => user === 'conductor')
    assert.ok(conductors.length >= 3 && conductors.every(({ request }) => request !== null), 'with the request')
    const provider = typesOf(await log.of('provider', node))
    assert.deepEqual([provider[0], provider.at(-1), provider.includes('traits')], ['created', 'deleted', true])
  })

  void test('a node that a step fails on says why', async () => {
    const node = await metal.node({ driver_info: { fake_fail: 'clean' } }, 'manageable')
    expectStatus(await metal.provision(node, 'provide'), 202)
    await metal.until(node, 'clean failed')
    const { data } = last(await log.of('node', node))
    assert.deepEqual([data.to, data.reason], ['clean failed', (await metal.show(node)).last_error])
  })

  void test('an allocation that is kept, and that someone else ends', async () => {
    const resource_class = newClass()
    await metal.node({ name: resource_class, resource_class, owner: 'p1' }, 'available')
    const end = await inMinutes(300)
    const wanted = { resource_class, expires_at: end, keeper: 'alice@laptop/s3cret-s3cret-s3cret' }
    const made = expectStatus(await metal.post('/v1/allocations', wanted, mine), 201).body
    await metal.settled(made.uuid)
    const path = `/v1/allocations/${made.uuid}`
    for (let i = 0; i < 2; i++) expectStatus(await metal.del(`${path}?message=a%20demo`, mine), 202)
    expectStatus(await metal.del(`${path}?keeper=alice@laptop/s3cret-s3cret-s3cret`, mine), 204)
    const events = await log.of('allocation', made.uuid)
    assert.deepEqual(typesOf(events), ['created', 'active', 'ending', 'ended'], 'the second wish is no news')
    const { until, keeper, reason } = events[2]!.data
    assert.deepEqual({ until, keeper, reason }, { until: end, keeper: 'alice@laptop', reason: 'a demo' })
    assert.doesNotMatch(JSON.stringify(events), /s3cret/)
  })

  void test('an allocation that gets its node at once, is renewed, renamed and deleted', async () => {
    const resource_class = newClass()
    const node = await metal.node({ name: resource_class, resource_class, owner: 'p1' }, 'available')
    const made = expectStatus(
      await metal.post(
        '/v1/allocations',
        { resource_class, name: `${resource_class}-a`, extra: { k: 'hunter2' } },
        mine,
      ),
      201,
    ).body
    await metal.settled(made.uuid)
    const end = await inMinutes(300)
    const path = `/v1/allocations/${made.uuid}`
    expectStatus(await metal.patch(path, [{ op: 'add', path: '/expires_at', value: end }], mine), 200)
    expectStatus(await metal.patch(path, [{ op: 'add', path: '/name', value: `${resource_class}-b` }], mine), 200)
    expectStatus(await metal.del(path, mine), 204)
    const events = await log.of('allocation', made.uuid)
    assert.deepEqual(typesOf(events), ['created', 'active', 'renewed', 'changed', 'ended'])
    for (const { whose } of events) assert.deepEqual(whose, { project: 'p1', user: 'alice' })
    const [created, active, renewed, changed, ended] = events as [Told, Told, Told, Told, Told]
    assert.deepEqual(active.data, {
      name: `${resource_class}-a`,
      resource_class,
      until: null,
      from: 'allocating',
      to: 'active',
      node: { uuid: node, name: resource_class },
    })
    assert.equal(active.request, created.request)
    assert.deepEqual([renewed.data.until.slice(0, 19), renewed.data.until_before], [end.slice(0, 19), null])
    assert.equal(changed.data.name, `${resource_class}-b`)
    assert.deepEqual([ended.user, ended.data.reason, ended.data.node.uuid], ['alice', 'deleted', node])
    const instance = (await log.of('node', node)).filter(({ data }) => data.fields?.includes('instance_uuid'))
    assert.deepEqual(
      instance.map(({ data }) => data.instance_uuid),
      [made.uuid, null],
      'its node says so once each time',
    )
    assert.deepEqual(typesOf(await log.of('claim', made.uuid)), ['set', 'deleted'])
  })

  void test('an allocation that finds nothing, is tried again, waits, and has its turn', async () => {
    const resource_class = newClass()
    const failed = await metal.refused({ resource_class })
    const { data } = last(await log.of('allocation', failed.uuid))
    assert.deepEqual([data.from, data.to, data.reason], ['allocating', 'error', failed.last_error])
    const wait_until = await inMinutes(600)
    expectStatus(await metal.operator('POST', `/allocations/${failed.uuid}/retry`, { wait_until }), 202)
    const waiting = last(await told('allocation', failed.uuid, 'waiting')).data
    assert.ok(waiting.reason.length > 0)
    await api.advance(5)
    await metal.node({ resource_class }, 'available')
    const events = await told('allocation', failed.uuid, 'active')
    assert.deepEqual(typesOf(events), ['created', 'error', 'retried', 'waiting', 'active'])
    assert.ok(last(events).data.waited_seconds >= 300, 'it is told how long')
  })

  void test('a note that comes between the time to remind and the reminder does not swallow it', async () => {
    const resource_class = newClass()
    await metal.node({ resource_class }, 'available')
    const { uuid } = await metal.allocated({ resource_class, expires_at: await inMinutes(120) })
    await api.operate('POST', '/clock', { advance: 61 * 60, work: false })
    const note = [{ op: 'add', path: '/note', value: 'the fan is loud' }]
    expectStatus(await metal.patch(`/v1/allocations/${uuid}`, note, NEWEST), 200)
    await api.advance(1)
    await api.advance(1)
    const types = typesOf(await log.of('allocation', uuid))
    assert.equal(types.filter(type => type === 'before_end').length, 1, types.join())
  })

  void test('an allocation is reminded of its end once, again when that is moved, and ends', async () => {
    const resource_class = newClass()
    await metal.node({ resource_class }, 'available')
    const { uuid } = await metal.allocated({ resource_class, expires_at: await inMinutes(120) })
    await api.advance(30)
    assert.deepEqual(typesOf(await log.of('allocation', uuid)), ['created', 'active'])
    await api.advance(31)
    for (let i = 0; i < 3; i++) await api.advance(1)
    const end = await inMinutes(90)
    const moved = [{ op: 'add', path: '/expires_at', value: end }]
    expectStatus(await metal.patch(`/v1/allocations/${uuid}`, moved, NEWEST), 200)
    await api.advance(40)
    const events = await log.of('allocation', uuid)
    assert.deepEqual(typesOf(events), ['created', 'active', 'before_end', 'renewed', 'before_end'])
    assert.equal(last(events).data.until.slice(0, 19), end.slice(0, 19))
    assert.equal(last(events).user, 'conductor')
    await api.advance(60)
    const ended = last(await told('allocation', uuid, 'ended'))
    assert.deepEqual([ended.user, ended.data.reason], ['conductor', 'expired'])
  })

  void test('an allocation that is short, or is renewed again and again, has no reminder', async () => {
    const resource_class = newClass()
    await metal.node({ resource_class }, 'available')
    const { uuid } = await metal.allocated({ resource_class, expires_at: await inMinutes(10) })
    for (let i = 0; i < 5; i++) {
      await api.advance(5)
      const moved = [{ op: 'add', path: '/expires_at', value: await inMinutes(10) }]
      expectStatus(await metal.patch(`/v1/allocations/${uuid}`, moved, NEWEST), 200)
    }
    assert.deepEqual([...new Set(typesOf(await log.of('allocation', uuid)))], ['created', 'active', 'renewed'])
    expectStatus(await metal.del(`/v1/allocations/${uuid}`, NEWEST), 204)
  })

  void test('an allocation ends with its machine, with its instance, and with its node', async () => {
    const resource_class = newClass()
    const node = await metal.node({ resource_class }, 'available')
    const reasonOf = async (uuid: string) => last(await told('allocation', uuid, 'ended')).data.reason
    const first = await metal.allocated({ resource_class })
    await metal.go(node, 'active', 'active')
    await metal.go(node, 'deleted', 'available')
    assert.equal(await reasonOf(first.uuid), 'torn_down')
    const second = await metal.allocated({ resource_class })
    expectStatus(await metal.change(node, 'instance_uuid'), 200)
    assert.equal(await reasonOf(second.uuid), 'instance_removed')
    const third = await metal.allocated({ resource_class })
    expectStatus(await metal.put(`/v1/nodes/${node}/maintenance`, {}), 202)
    expectStatus(await metal.del(`/v1/nodes/${node}`), 204)
    assert.equal(await reasonOf(third.uuid), 'node_deleted')
  })

  void test('holds', async () => {
    const resource_class = newClass()
    const node = await metal.node({ resource_class, name: resource_class, owner: 'p1' }, 'available')
    const hold = async () =>
      expectStatus(await metal.post('/v1/reservations', { instance_uuid: randomUUID(), node_uuid: [node] }, mine), 201)
        .body.reservation
    const first = await hold()
    const path = `/v1/reservations/${first.uuid}`
    expectStatus(await metal.put(path, { expires_at: '2h' }, mine), 200)
    expectStatus(await metal.del(path, mine), 204)
    const events = await log.of('hold', first.uuid)
    assert.deepEqual(typesOf(events), ['created', 'renewed', 'released'])
    for (const { whose, data } of events) {
      assert.deepEqual(whose, { project: 'p1' })
      assert.deepEqual(data.node, { uuid: node, name: resource_class })
      assert.equal(data.instance_uuid, first.instance_uuid)
    }
    const second = await hold()
    await api.advance(11)
    const expired = last(await told('hold', second.uuid, 'expired'))
    assert.deepEqual([expired.user, expired.whose], ['conductor', { project: 'p1' }])
    const third = await hold()
    expectStatus(await metal.provision(node, 'active', { reservation_uuid: third.uuid }, NEWEST), 202)
    assert.deepEqual(typesOf(await log.of('hold', third.uuid)), ['created', 'redeemed'])
    await metal.until(node, 'active')
  })

  void test('a hold that a claim finds expired is told as such', async () => {
    const node = await metal.node({ resource_class: newClass() }, 'available')
    const hold = await metal.hold([node])
    // Only the clock is moved: the sweep and the claim race, and whoever comes first tells.
    await metal.moveTo((await metal.now()) + 11 * MINUTE_MS)
    const [name] = Object.keys((await metal.placement.get(`/resource_providers/${node}/inventories`)).body.inventories)
    expectStatus(await metal.placement.claim(randomUUID(), { [node]: { [name!]: 1 } }), 204)
    assert.deepEqual(typesOf(await log.of('hold', hold.uuid)), ['created', 'expired'])
  })

  void test('providers and claims', async () => {
    const { placement } = api
    const provider = await placement.provider({ VCPU: 8 })
    expectStatus(await placement.put(`/resource_providers/${provider}`, { name: `renamed-${provider}` }), 200)
    expectStatus(await placement.put('/traits/CUSTOM_CONTENT'), 201, 204)
    const { resource_provider_generation } = (await placement.get(`/resource_providers/${provider}/traits`)).body
    const traits = { traits: ['CUSTOM_CONTENT'], resource_provider_generation }
    expectStatus(await placement.put(`/resource_providers/${provider}/traits`, traits), 200)
    const consumer = randomUUID()
    expectStatus(await placement.claim(consumer, { [provider]: { VCPU: 3 } }), 204)
    const [other, third] = [randomUUID(), randomUUID()]
    const both = Object.fromEntries([other, third].map(id => [id, consumerBody({ [provider]: { VCPU: 1 } })]))
    expectStatus(await placement.post('/allocations', both), 204)
    for (const id of [consumer, other, third]) expectStatus(await placement.del(`/allocations/${id}`), 204)
    expectStatus(await placement.del(`/resource_providers/${provider}`), 204)
    const events = await log.of('provider', provider)
    assert.deepEqual(typesOf(events), ['created', 'inventory', 'changed', 'traits', 'deleted'])
    assert.deepEqual(events[1]!.data.set, { VCPU: { total: 8, reserved: 0, allocation_ratio: 1 } })
    assert.deepEqual(events[3]!.data.added, ['CUSTOM_CONTENT'])
    const [set, gone] = await log.of('claim', consumer)
    assert.deepEqual([set!.type, set!.data], ['claim.set', { resources: { [provider]: { VCPU: 3 } }, total: 1 }])
    assert.equal(gone!.type, 'claim.deleted')
    assert.equal((await log.of('claim', other))[0]!.data.total, 2)
  })

  void test('servers', async () => {
    await compute.hypervisor()
    const flavor = await compute.flavor()
    const { id } = await compute.server(flavor, {}, as('alice', 'p1'))
    await compute.untilStatus(id, 'ACTIVE')
    expectStatus(await compute.action(id, 'os-stop'), 202)
    expectStatus(await compute.put(`/servers/${id}`, { server: { name: 'other' } }), 200)
    expectStatus(await compute.action(id, 'os-start'), 202)
    expectStatus(await compute.del(`/servers/${id}`), 204)
    await compute.untilGone(id)
    const events = await log.of('server', id)
    assert.deepEqual(typesOf(events), ['created', 'active', 'changed', 'changed', 'active', 'deleted'])
    for (const { whose } of events) assert.deepEqual(whose, { project: 'p1', user: 'alice' })
    const huge = await compute.server(await compute.flavor({ vcpus: 10_000 }))
    await compute.untilStatus(huge.id, 'ERROR')
    const failed = await log.of('server', huge.id)
    assert.deepEqual(typesOf(failed), ['created', 'error'])
    assert.match(last(failed).data.reason, /not enough hosts/)
  })

  void test('a lease, from its booking to its end', async () => {
    const pool = await api.pool(1)
    const wanted = [instances({ resource_properties: pool.only })]
    const lease = await api.lease(wanted, { from: 60, to: 240 }, alice)
    await api.update(lease.id, { name: 'another' }, alice)
    await api.advance(61)
    await api.advance(125)
    await api.advance(60)
    const events = await told('lease', lease.id, 'ended')
    assert.deepEqual(typesOf(events), ['created', 'changed', 'started', 'before_end', 'ended'])
    for (const { whose } of events) assert.deepEqual(whose, { project: 'p1', user: 'alice' })
    assert.deepEqual(
      events.map(({ user }) => user),
      ['alice', 'alice', 'conductor', 'conductor', 'conductor'],
    )
    const reminder = events[3]!.data
    assert.deepEqual([reminder.name, reminder.until], ['another', reminder.end])
    await api.end(lease.id)
    assert.equal(last(await log.of('lease', lease.id)).type, 'lease.deleted')
  })

  void test('a lease that loses a host, and gets another', async () => {
    const pool = await api.pool(1)
    const lease = await api.lease([instances({ resource_properties: pool.only })], { from: 30, to: 300 })
    const turn = async (state: 'up' | 'down') => {
      expectStatus(await api.operate('POST', '/hypervisor-state', { name: pool.names[0], state }), 200, 202, 204)
      await api.advance(0)
    }
    await turn('down')
    const { data } = last(await told('lease', lease.id, 'degraded'))
    assert.deepEqual(data.missing, [lease.reservations[0].id])
    await turn('up')
    assert.deepEqual(last(await told('lease', lease.id, 'whole')).data.missing, [])
    await api.end(lease.id)
  })

  void test('a lease of nodes that begins late says why, once; its node is an allocation of its project', async () => {
    const resource_class = newClass()
    const node = await metal.node({ resource_class }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200, 201, 204)
    const wanted = [{ resource_type: 'physical:node', resource_class, min: 1, max: 1 }]
    const lease = await api.lease(wanted, { from: 60, to: 240 }, alice)
    expectStatus(await metal.put(`/v1/nodes/${node}/maintenance`, {}), 202)
    await api.advance(61)
    const { data: late } = await waitFor('it is late', async () =>
      (await log.of('lease', lease.id)).find(({ type }) => type === 'lease.error'),
    )
    assert.deepEqual([late.from, late.to, late.reason.length > 0], ['PENDING', 'STARTING', true])
    await api.advance(2)
    expectStatus(await metal.del(`/v1/nodes/${node}/maintenance`), 202)
    await api.advance(10)
    await api.until(lease.id, 'ACTIVE')
    const events = await log.of('lease', lease.id)
    assert.equal(typesOf(events).filter(word => word === 'error').length, 1)
    assert.equal(last(events).type, 'lease.started')
    const { allocation } = (await api.show(lease.id)).reservations[0].nodes[0]
    const given = await log.of('allocation', allocation)
    assert.deepEqual(typesOf(given), ['created', 'active'])
    assert.deepEqual([last(given).whose, last(given).data.node.uuid], [{ project: 'p1', user: 'alice' }, node])
    assert.deepEqual(last(await log.of('node', node)).whose.lessee, 'p1')
    await api.end(lease.id)
    assert.equal(last(await told('allocation', allocation, 'ended')).data.reason, 'lease')
  })

  void test('all types of events were there, but for those of conductors', () => {
    const missing = [...TYPES].filter(type => !log.seen.has(type) && !type.startsWith('conductor.'))
    // Webhooks have tests of their own.
    assert.deepEqual(missing, ['webhook.disabled'])
  })
})

eachDatabase('what the log says of conductors', ({ create }) => {
  void test('who joins, who is silent, whose work is taken over, and who leaves', async () => {
    const database = await create()
    const store = openStore(database)
    const dead = { hostname: 'dead', incarnation: randomUUID(), group: '', drivers: ['fake-hardware'] }
    await store.write(() => signIn(dead, true, 60_000, 'spare'))
    await store.script(run => run('update conductors set heartbeat_at = 0'))
    await store.script(run =>
      run(`insert into allocations (uuid, resource_class, traits, candidate_nodes, extra, project_id, user_id, state,
        conductor_affinity, created_at)
        values ('${randomUUID()}', 'x', '[]', '[]', '{}', 'p', 'u', 'allocating', 'dead ${dead.incarnation}',
          ${systemClock.now()})`),
    )
    await store.close()
    const log = new Log()
    const settings = { conductorName: 'alive', allocationCheckMs: 20 }
    let server: Server = await startServer(database, settings)
    log.at(server.origin)
    await waitFor('it is taken over', async () => (await log.of('conductor', 'dead')).length === 2)
    const events = await log.of('conductor', 'dead')
    assert.deepEqual(typesOf(events), ['silent', 'taken_over'])
    assert.deepEqual(last(events).data, { taken_by: 'alive', allocations: 1 })
    await server.stop()
    server = await startServer(database, settings)
    log.at(server.origin)
    try {
      assert.deepEqual(typesOf(await log.of('conductor', 'alive')), ['joined', 'left', 'joined'])
    } finally {
      log.close()
      await server.stop()
    }
  })
})
