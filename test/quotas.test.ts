// Limits by project: each refused in the words of its API, counted in the transaction that promises, shown to their owners.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Baremetal, eachMetalRace, fault, newClass, NEWEST, uuid } from './support/baremetal.ts'
import type { Answer, Options } from './support/client.ts'
import { Compute, expectFault as expectComputeFault, member as computeMember } from './support/compute.ts'
import { expectStatus } from './support/placement.ts'
import { as, eachReservation, expectError, instances, type Shown } from './support/reservation.ts'
import { clients } from './races/clients.ts'

let projects = 0
const newProject = () => `project-${++projects}`
const member = (project: string) => as('someone', project)
const admin = (project: string) => as('chief', project, 'admin')

const inHours = (now: number, hours: number) => new Date(now + hours * 3_600_000).toISOString()
const said = (answer: Answer) => {
  expectStatus(answer, 403)
  return fault(answer)
}

eachReservation('quotas', api => {
  const metal = new Baremetal()
  before(() => (metal.origins = metal.placement.origins = api.origins))
  after(() => metal.close())

  const set = async (project: string, limits: object) =>
    expectStatus(await api.operate('PUT', `/quotas/${project}`, { limits }), 200).body
  const show = async (project: string): Promise<Record<string, { max: number | null; used: number | null }>> => {
    const { limits } = expectStatus(await api.operate('GET', `/quotas/${project}`), 200).body
    return Object.fromEntries(limits.map((limit: Shown) => [limit.name, limit]))
  }
  const allocate = (project: string, body: object) =>
    metal.post('/v1/allocations', body, { ...NEWEST, ...admin(project) })
  const hold = (project: string, node: string, more: object = {}) =>
    metal.post(
      '/v1/reservations',
      { instance_uuid: uuid(), node_uuid: [node], ...more },
      { ...NEWEST, ...admin(project) },
    )

  void test('allocations and holds count as nodes, all and by class, until they end', async () => {
    const [project, one, other] = [newProject(), newClass(), newClass()]
    await metal.nodes(3, { resource_class: one })
    const [spare, last] = await metal.nodes(2, { resource_class: other })
    await set(project, { nodes: 3, [`nodes:${one}`]: 2 })
    const first = expectStatus(await allocate(project, { resource_class: one }), 201).body.uuid
    expectStatus(await allocate(project, { resource_class: one }), 201)
    const byClass = `nodes:${one}`
    assert.equal(
      said(await allocate(project, { resource_class: one })),
      `Quota exceeded for ${byClass}: Requested 1, but already used 2 of 2 ${byClass}`,
    )
    const held = expectStatus(await hold(project, spare!), 201).body.reservation.uuid
    const full = 'Quota exceeded for nodes: Requested 1, but already used 3 of 3 nodes'
    assert.equal(said(await allocate(project, { resource_class: other })), full)
    assert.equal((await metal.allocationsOf(one)).length, 2)
    assert.equal((await metal.allocationsOf(other)).length, 0)
    const { nodes, [byClass]: ofClass } = await show(project)
    assert.deepEqual([nodes!.max, nodes!.used, ofClass!.max, ofClass!.used], [3, 3, 2, 2])
    // What is freed can be had again, by either way.
    expectStatus(await metal.del(`/v1/reservations/${held}`, NEWEST), 204)
    await metal.settled(first)
    expectStatus(await metal.del(`/v1/allocations/${first}`, NEWEST), 204)
    expectStatus(await allocate(project, { resource_class: one }), 201)
    expectStatus(await hold(project, spare!), 201)
    assert.equal(said(await hold(project, last!)), full)
  })

  void test('large texts have a limit from the beginning, counted over all that the project stores', async () => {
    const [project, other] = [newProject(), newProject()]
    const extra = (kib: number) => ({ text: 'x'.repeat(kib * 1_024) })
    const store = (kib: number, owner = project) =>
      allocate(owner, { resource_class: 'no-such-class', extra: extra(kib) })
    assert.deepEqual((await show(project))['stored_mib'], { name: 'stored_mib', max: 16, used: 0, is_default: true })
    await set(project, { stored_mib: 1 })
    // What is small is not counted.
    for (let i = 0; i < 3; i++) expectStatus(await store(3), 201)
    assert.equal((await show(project))['stored_mib']!.used, 0)
    const some = []
    for (let i = 0; i < 4; i++) some.push(expectStatus(await store(250), 201).body.uuid)
    const over = 'Quota exceeded for stored_mib: Requested 0.1, but already used 1 of 1 stored_mib'
    assert.equal(said(await store(100)), over)
    const small = expectStatus(await store(1), 201).body.uuid
    const patch = [{ op: 'replace', path: '/extra', value: extra(100) }]
    assert.equal(said(await metal.patch(`/v1/allocations/${small}`, patch, { ...NEWEST, ...admin(project) })), over)
    // Others have their own, and what is given back is free again.
    expectStatus(await store(100, other), 201)
    await metal.settled(some[0])
    expectStatus(await metal.del(`/v1/allocations/${some[0]}`, NEWEST), 204)
    expectStatus(await store(100), 201)
    await set(project, { stored_mib: -1 })
    expectStatus(await store(250), 201)
    expectStatus(await store(250), 201)
  })

  void test('what found no node counts no more, and is counted again when it is tried again', async () => {
    const [project, nowhere] = [newProject(), newClass()]
    await set(project, { nodes: 1 })
    const { uuid: first } = expectStatus(await allocate(project, { resource_class: nowhere }), 201).body
    assert.equal((await metal.settled(first)).state, 'error')
    const wait_until = inHours(await api.now(), 1)
    expectStatus(await allocate(project, { resource_class: nowhere, wait_until }), 201)
    const retried = await metal.operator('POST', `/allocations/${first}/retry`)
    assert.equal(expectStatus(retried, 403).body.error.kind, 'quota_exceeded')
    assert.equal((await metal.allocation(first)).state, 'error')
  })

  void test('what would be refused is refused when it is only explained', async () => {
    const [project, resource_class] = [newProject(), newClass()]
    const [node] = await metal.nodes(1, { resource_class })
    await set(project, { nodes: 0, leases: 0 })
    const { headers, token } = admin(project)
    const options = { headers: headers!, token: token! }
    for (const [path, body] of [
      ['/explain/allocations', { resource_class }],
      ['/explain/reservations', { instance_uuid: uuid(), node_uuid: [node] }],
    ] as const) {
      const { error } = expectStatus(await metal.operator('POST', path, body, options), 403).body
      assert.match(error.message, /^Quota exceeded for nodes: Requested 1, but already used 0 of 0 nodes$/)
    }
    const { only } = await api.pool(1)
    const wanted = [instances({ resource_properties: only })]
    const explained = expectStatus(await api.explain(wanted, {}, member(project)), 403).body
    assert.equal(explained.error.message, 'Quota exceeded for leases: Requested 1, but already used 0 of 0 leases')
  })

  void test('a hold and an allocation last as long as they may, also when they are prolonged', async () => {
    const [project, resource_class] = [newProject(), newClass()]
    const nodes = await metal.nodes(2, { resource_class })
    await set(project, { longest_hold_hours: 2, longest_allocation_hours: 24 })
    const now = await api.now()
    const at = (hours: number) => ({ expires_at: inHours(now, hours) })
    assert.equal(
      said(await hold(project, nodes[0]!, at(3))),
      'Quota exceeded for longest_hold_hours: Requested 3, but at most 2 hours are allowed',
    )
    const held = expectStatus(await hold(project, nodes[0]!, at(1)), 201).body.reservation
    const renew = (hours: number) => metal.put(`/v1/reservations/${held.uuid}`, at(hours), NEWEST)
    assert.match(said(await renew(2.5)), /longest_hold_hours: Requested 2\.5/)
    expectStatus(await renew(1.5), 200)
    assert.equal(
      said(await allocate(project, { resource_class })),
      'Quota exceeded for longest_allocation_hours: Requested no end, but at most 24 hours are allowed',
    )
    const { uuid: id } = expectStatus(await allocate(project, { resource_class, ...at(20) }), 201).body
    const end = (value: unknown) =>
      metal.patch(`/v1/allocations/${id}`, [{ op: 'add', path: '/expires_at', value }], NEWEST)
    assert.match(said(await end(inHours(now, 30))), /longest_allocation_hours: Requested 30, but at most 24 hours/)
    const unending = await metal.patch(`/v1/allocations/${id}`, [{ op: 'remove', path: '/expires_at' }], NEWEST)
    assert.match(said(unending), /Requested no end/)
    assert.equal(
      Date.parse((await metal.allocation(id)).expires_at),
      Math.floor((now + 20 * 3_600_000) / 1_000) * 1_000,
    )
    // A limit that comes later takes nothing away, and what is too long may become shorter.
    await set(project, { longest_allocation_hours: 1 })
    expectStatus(await end(inHours(now, 10)), 200)
    expectStatus(
      await metal.patch(`/v1/allocations/${id}`, [{ op: 'add', path: '/name', value: `n-${id}` }], NEWEST),
      200,
    )
  })

  void test('leases are counted, and so are the hours that they have before them', async () => {
    const project = newProject()
    const { only } = await api.pool(1)
    const wanted = [instances({ resource_properties: only })]
    await set(project, { leases: 2, lease_hours: 5, longest_lease_hours: 3 })
    const lease = (from: number, to: number) => api.tryLease(wanted, { from: from * 60, to: to * 60 }, member(project))
    const message = (answer: Answer) => expectError(answer, 403).body.error_message
    assert.equal(
      message(await lease(1, 5)),
      'Quota exceeded for longest_lease_hours: Requested 4, but at most 3 hours are allowed',
    )
    const { id } = expectStatus(await lease(1, 3), 201).body.lease
    const second = expectStatus(await lease(10, 12), 201).body.lease.id
    assert.equal(
      message(await lease(20, 22)),
      'Quota exceeded for lease_hours, leases: Requested 2, 1, but already used 4, 2 of 5, 2 lease_hours, leases',
    )
    const longer = { end_date: await api.date(13 * 60) }
    expectStatus(await api.put(`/leases/${second}`, longer, member(project)), 200)
    const tooLong = await api.put(`/leases/${id}`, { end_date: await api.date(4 * 60) }, member(project))
    assert.equal(message(tooLong), 'Quota exceeded for lease_hours: Requested 1, but already used 5 of 5 lease_hours')
    expectStatus(await api.put(`/leases/${id}`, { name: 'renamed' }, member(project)), 200)
    // Below what it has: it may become less, never more.
    await set(project, { lease_hours: 1 })
    expectStatus(await api.put(`/leases/${second}`, { end_date: await api.date(11 * 60) }, member(project)), 200)
    await api.end(id)
    expectStatus(await api.put(`/leases/${second}`, { end_date: await api.date(12 * 60) }, member(project)), 403)
    assert.deepEqual([(await show(project))['leases']!.used, (await show(project))['lease_hours']!.used], [1, 1])
    await api.end(second)
  })

  void test('nodes that leases book count when they are booked, beside those that are had then', async () => {
    const [project, resource_class, free] = [newProject(), newClass(), newClass()]
    for (const node of await metal.nodes(2, { resource_class })) {
      expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200)
    }
    await metal.nodes(2, { resource_class: free })
    await set(project, { nodes: 2 })
    const nodes = (max: number) => [{ resource_type: 'physical:node', resource_class, min: 1, max }]
    const lease = (max: number, from: number, to: number) => api.tryLease(nodes(max), { from, to }, member(project))
    const { id } = expectStatus(await lease(2, 60, 120), 201).body.lease
    // One after the other is not at once.
    const next = expectStatus(await lease(1, 180, 240), 201).body.lease.id
    const full = 'Quota exceeded for nodes: Requested 1, but already used 2 of 2 nodes'
    assert.equal(said(await allocate(project, { resource_class: free })), full)
    const now = await api.now()
    const before = { resource_class: free, expires_at: inHours(now, 0.5) }
    const { uuid: early } = expectStatus(await allocate(project, before), 201).body
    const prolonged = [{ op: 'add', path: '/expires_at', value: inHours(now, 1.5) }]
    assert.equal(said(await metal.patch(`/v1/allocations/${early}`, prolonged, NEWEST)), full)
    // What the lease has given is not counted twice.
    await metal.settled(early)
    expectStatus(await metal.del(`/v1/allocations/${early}`, NEWEST), 204)
    await api.end(next)
    await api.advance(61)
    await api.until(id, 'ACTIVE')
    assert.equal((await show(project))['nodes']!.used, 2)
    await api.end(id)
    expectStatus(await allocate(project, { resource_class: free }), 201)
  })

  void test('instances and vCPUs are counted, with those that are resized', async () => {
    const project = newProject()
    await api.computeNode(`for-${project}`, { vcpus: 64 })
    await api.computeNode(`also-for-${project}`, { vcpus: 64 })
    await set(project, { instances: 2, vcpus: 5 })
    const told = expectStatus(
      await api.compute.get(`/os-quota-sets/${project}`, { ...member(project), version: null }),
      200,
    )
    const { instances: most, cores, ram } = told.body.quota_set
    assert.deepEqual([most, cores, ram], [2, 5, -1])
    expectStatus(await api.compute.get(`/os-quota-sets/${project}`, { ...member('others'), version: null }), 403)
    const ownLimits = await api.compute.get('/limits', { ...member(project), version: null })
    assert.equal(ownLimits.body.limits.absolute.maxTotalCores, 5)
    const [small, large] = [await api.plainFlavor(2), await api.plainFlavor(4)]
    const who: Options = { ...member(project), version: null }
    const first = await api.server(small, member(project))
    expectComputeFault(
      await api.tryServer(large, member(project)),
      403,
      /^Quota exceeded for cores: Requested 4, but already used 2 of 5 cores$/,
    )
    const many = (min_count: number, max_count: number) =>
      api.compute.post('/servers', { server: { name: 'many', flavorRef: small, min_count, max_count } }, who)
    expectComputeFault(
      await many(2, 3),
      403,
      /^Quota exceeded for cores, instances: Requested 4, 2, but already used 2, 1 of 5, 2 cores, instances$/,
    )
    const servers = async (): Promise<Shown[]> => expectStatus(await api.compute.get('/servers', who), 200).body.servers
    assert.equal((await servers()).length, 1)
    // As many as there may be, where fewer will do.
    expectStatus(await many(1, 3), 202)
    assert.equal((await servers()).length, 2)
    const act = (body: object) => api.compute.post(`/servers/${first.id}/action`, body, who)
    expectComputeFault(
      await act({ resize: { flavorRef: large } }),
      403,
      /^Quota exceeded for cores: Requested 2, but already used 4 of 5 cores$/,
    )
    assert.equal((await api.compute.get(`/servers/${first.id}`, who)).body.server.status, 'ACTIVE')
    // Made smaller, it can't come back to what others have taken meanwhile.
    await set(project, { instances: 3 })
    const tiny = await api.plainFlavor(1)
    expectStatus(await act({ resize: { flavorRef: tiny } }), 202)
    await api.server(small, member(project))
    expectComputeFault(
      await act({ revertResize: null }),
      403,
      /^Quota exceeded for cores: Requested 1, but already used 5/,
    )
    for (const { id } of await servers()) expectStatus(await api.compute.del(`/servers/${id}`, who), 204)
    assert.deepEqual([(await show(project))['instances']!.used, (await show(project))['vcpus']!.used], [0, 0])
    await api.server(large, member(project))
  })

  void test('a server on bare metal is an instance, and has a node', async () => {
    const [project, resource_class] = [newProject(), newClass()]
    await metal.nodes(1, { resource_class })
    await set(project, { nodes: 0 })
    const id = await api.plainFlavor()
    const metalClass = `CUSTOM_${resource_class.toUpperCase().replaceAll('-', '_')}`
    const extra_specs = {
      [`resources:${metalClass}`]: '1',
      'resources:VCPU': '0',
      'resources:MEMORY_MB': '0',
      'resources:DISK_GB': '0',
    }
    expectStatus(await api.compute.post(`/flavors/${id}/os-extra_specs`, { extra_specs }, { version: null }), 200)
    const answer = await api.tryServer(id, member(project))
    expectComputeFault(answer, 403, /^Quota exceeded for nodes: Requested 1, but already used 0 of 0 nodes$/)
    await set(project, { nodes: 1 })
    await api.server(id, member(project))
    assert.equal((await show(project))['nodes']!.used, 1)
  })

  void test('defaults hold for all that have no limit of their own', async () => {
    const [plain, own, free] = [newProject(), newProject(), newProject()]
    const { only } = await api.pool(1)
    const lease = (project: string) =>
      api.tryLease([instances({ resource_properties: only })], { from: 600, to: 660 }, member(project))
    const shown = await set('default', { leases: 1 })
    assert.deepEqual(
      shown.limits.filter(({ name, max }: Shown) => max !== null && name !== 'stored_mib'),
      [{ name: 'leases', max: 1, used: null, is_default: true }],
    )
    await set(own, { leases: 2 })
    await set(free, { leases: -1 })
    for (const [project, may] of [
      [plain, 1],
      [own, 2],
      [free, 3],
    ] as const) {
      for (let i = 0; i < may; i++) expectStatus(await lease(project), 201)
      if (project !== free) assert.match(expectError(await lease(project), 403).body.error_message, /for leases:/)
    }
    assert.equal((await show(free))['leases']!.max, null)
    const { quotas } = expectStatus(await api.operate('GET', '/quotas'), 200).body
    const ofThese = quotas.filter(({ project }: Shown) => ['default', own, free].includes(project))
    assert.deepEqual(ofThese.map(({ limits }: Shown) => limits.leases).toSorted(), [-1, 1, 2])
    expectStatus(await api.operate('DELETE', '/quotas/default'), 204)
    expectStatus(await api.operate('DELETE', '/quotas/default'), 404)
    expectStatus(await lease(plain), 201)
    // Null takes one away.
    await set(own, { leases: null, instances: 7 })
    assert.deepEqual([(await show(own))['leases']!.max, (await show(own))['instances']!.max], [null, 7])
  })

  void test('limits are shown to their owners, hidden from others, and set by admins only', async () => {
    const project = newProject()
    await set(project, { nodes: 4 })
    const ask = (method: string, path: string, who: Options, body?: object) =>
      metal.operator(method, path, body, { token: who.token!, headers: who.headers! })
    const { limits } = expectStatus(await ask('GET', `/quotas/${project}`, member(project)), 200).body
    assert.deepEqual(limits[0], { name: 'nodes', max: 4, used: 0, is_default: false })
    for (const [method, path, who, body] of [
      ['GET', `/quotas/${project}`, member('someone-else')],
      ['GET', '/quotas', member(project)],
      ['PUT', `/quotas/${project}`, member(project), { limits: { nodes: 5 } }],
      ['DELETE', `/quotas/${project}`, member(project)],
    ] as const) {
      expectStatus(await ask(method, path, who, body), 403)
    }
    const [entry] = await api.audit(project)
    assert.equal(entry.action, 'holdfast:quotas:set')
    assert.equal((await show(project))['nodes']!.max, 4)
  })

  void test('a limit that is none is refused, and changes nothing', async () => {
    const project = newProject()
    for (const limits of [
      { nodes: 4, chairs: 1 },
      { nodes: -2 },
      { nodes: 1.5 },
      { nodes: '4' },
      {},
      { 'nodes:': 1 },
    ]) {
      expectStatus(await api.operate('PUT', `/quotas/${project}`, { limits }), 400)
    }
    // PostgreSQL couldn't keep that.
    const long = Array.from({ length: 200 }, uuid).join('')
    expectStatus(await api.operate('PUT', `/quotas/${long}`, { limits: { nodes: 4 } }), 400)
    expectStatus(await api.operate('PUT', `/queue/projects/${long}`, { priority: 1 }), 400)
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`nodes:${i}`, 1]))
    await set(project, many)
    const more = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`nodes:more-${i}`, 1]))
    expectStatus(await api.operate('PUT', `/quotas/${project}`, { limits: more }), 400)
    expectStatus(await api.operate('DELETE', `/quotas/${project}`), 204)
    expectStatus(await api.operate('DELETE', `/quotas/${project}`), 404)
  })
})

eachMetalRace('quotas in a race', api => {
  const limit = async (project: string, limits: object) =>
    expectStatus(await api.operator('PUT', `/quotas/${project}`, { limits }), 200)

  void test('32 ask at once, by both ways: as many get a node as may', async () => {
    const [project, resource_class] = [newProject(), newClass()]
    const nodes = await api.nodes(8, { resource_class })
    await limit(project, { nodes: 4 })
    const options = { ...NEWEST, ...admin(project) }
    const answers = await clients(32, index =>
      index % 2 === 0
        ? api.post('/v1/allocations', { resource_class }, options)
        : api.post('/v1/reservations', { instance_uuid: uuid(), node_uuid: nodes }, options),
    )
    assert.equal(answers.filter(({ status }) => status === 201).length, 4)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assert.equal(said(answer), 'Quota exceeded for nodes: Requested 1, but already used 4 of 4 nodes')
    }
    const { limits } = (await api.operator('GET', `/quotas/${project}`)).body
    assert.equal(limits.find(({ name }: Shown) => name === 'nodes').used, 4)
  })

  void test('12 ask for servers at once: as many are made as may, and no trace is left of the others', async () => {
    const project = newProject()
    const compute = new Compute(...api.origins)
    await compute.hypervisor({ VCPU: 64 })
    const flavor = await compute.flavor({ vcpus: 2 })
    await limit(project, { instances: 9, vcpus: 8 })
    const answers = await clients(12, () => compute.create(flavor, {}, computeMember(project)))
    const refused = answers.filter(({ status }) => status !== 202)
    assert.equal(refused.length, 8)
    for (const answer of refused)
      expectComputeFault(answer, 403, /^Quota exceeded for cores: Requested 2, but already /)
    const { servers } = expectStatus(await compute.get('/servers', computeMember(project)), 200).body
    assert.equal(servers.length, 4)
    compute.close()
  })
})
