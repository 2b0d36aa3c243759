// Allocations and reservations of projects: made for one's own, of one's own nodes, and for others not there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eachMetal, expectFault, uuid } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import type { Options } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'

const DEADLINE_MS = 15_000
const NEWEST = '1.83'
const newest = (options: Options = {}): Options => ({ ...options, version: NEWEST })

eachMetal('allocations of projects', api => {
  const tenant = () => {
    const project = uuid()
    return { project, reader: newest(as('reader', project)), member: newest(as('member', project)) }
  }
  const settled = async (allocation: string) => {
    for (const deadline = performance.now() + DEADLINE_MS; ; await sleep(10)) {
      const { body } = expectStatus(await api.get(`/v1/allocations/${allocation}`, newest()), 200)
      if (body.state !== 'allocating' || performance.now() > deadline) return body
    }
  }

  void test('a member allocates for its own project, and gets only nodes of that', async () => {
    const { project, member, reader } = tenant()
    const resource_class = `class-${uuid()}`
    await api.node({ resource_class }, 'available')
    await api.node({ resource_class, owner: uuid() }, 'available')
    const owned = await api.node({ resource_class, owner: project }, 'available')
    const leased = await api.node({ resource_class, owner: uuid(), lessee: project }, 'available')
    const got: string[] = []
    for (let i = 0; i < 2; i++) {
      const { body } = expectStatus(await api.post('/v1/allocations', { resource_class }, member), 201)
      assert.equal(body.owner, project)
      got.push((await settled(body.uuid)).node_uuid)
    }
    assert.deepEqual(got.toSorted(), [owned, leased].toSorted())
    const third = expectStatus(await api.post('/v1/allocations', { resource_class }, member), 201).body
    assert.equal((await settled(third.uuid)).state, 'error')
    expectFault(await api.post('/v1/allocations', { resource_class, owner: uuid() }, member), 403)
    expectFault(await api.post('/v1/allocations', { resource_class }, reader), 403)
    expectStatus(await api.post('/v1/allocations', { resource_class, owner: project }, member), 201)
  })

  void test('owner and lessee of a node can’t end each other’s allocation of it', async () => {
    const [owner, lessee] = [tenant(), tenant()]
    const takes = [
      [owner, lessee],
      [lessee, owner],
    ] as const
    for (const [holder, other] of takes) {
      const resource_class = `class-${uuid()}`
      const shared = { resource_class, owner: owner.project, lessee: lessee.project }
      const node = await api.node(shared, 'available')
      const { body } = expectStatus(await api.post('/v1/allocations', { resource_class }, holder.member), 201)
      assert.equal((await settled(body.uuid)).node_uuid, node)
      const remove = [{ op: 'remove', path: '/instance_uuid' }]
      expectFault(await api.patch(`/v1/nodes/${node}`, remove, other.member), 403, /allocation:delete/)
      assert.equal((await settled(body.uuid)).state, 'active')
      expectStatus(await api.patch(`/v1/nodes/${node}`, remove, holder.member), 200)
      expectFault(await api.get(`/v1/allocations/${body.uuid}`, holder.member), 404)
      const claim = [{ op: 'add', path: '/instance_uuid', value: uuid() }]
      expectStatus(await api.patch(`/v1/nodes/${node}`, claim, holder.member), 200)
      expectStatus(await api.patch(`/v1/nodes/${node}`, remove, other.member), 200)
    }
  })

  void test('others don’t see an allocation, and can’t tell it from a missing one', async () => {
    const { project, reader, member } = tenant()
    const other = tenant()
    const resource_class = `class-${uuid()}`
    const { body } = expectStatus(
      await api.post('/v1/allocations', { resource_class, name: `a-${uuid()}` }, member),
      201,
    )
    await settled(body.uuid)
    const list = async (options: Options) => (await api.get('/v1/allocations', options)).body.allocations.length
    assert.deepEqual([await list(reader), await list(other.reader)], [1, 0])
    assert.equal((await api.get(`/v1/allocations?owner=${project}`, other.reader)).body.allocations.length, 0)
    expectFault(await api.get(`/v1/allocations?marker=${body.uuid}`, other.reader), 404)
    for (const [method, patch] of [
      ['GET'],
      ['DELETE'],
      ['PATCH', [{ op: 'add', path: '/extra/a', value: 1 }]],
    ] as const) {
      const ask = (ident: string) => api.request(method, `/v1/allocations/${ident}`, patch, other.member)
      for (const ident of [body.uuid as string, body.name as string]) {
        const [foreign, missing] = [await ask(ident), await ask('x-missing')]
        assert.equal(foreign.status, 404)
        assert.equal(JSON.stringify(foreign.body).replace(ident, 'x-missing'), JSON.stringify(missing.body))
      }
      if (method !== 'GET') expectFault(await api.request(method, `/v1/allocations/${body.uuid}`, patch, reader), 403)
    }
    const explain = (who: Options, ident: string) =>
      fetch(`${api.origin}/holdfast/v1/explain/allocations/${ident}`, {
        headers: { 'x-auth-token': String(who.token), ...(who.headers as Record<string, string>) },
      })
    assert.equal((await explain(reader, body.uuid)).status, 200)
    assert.equal((await explain(other.reader, body.uuid)).status, 404)
    expectStatus(await api.del(`/v1/allocations/${body.uuid}`, member), 204)
  })

  void test('nodes of others can be neither candidates, nor backfilled, nor held, nor asked for', async () => {
    const { member } = tenant()
    const resource_class = `class-${uuid()}`
    const foreign = await api.node({ resource_class, owner: uuid() }, 'available')
    const active = await api.node({ resource_class, owner: uuid() }, 'active')
    const missing = uuid()
    const same = async (send: (node: string) => Promise<{ status: number; body: unknown }>, node: string) => {
      const [one, other] = [await send(node), await send(missing)]
      assert.equal(one.status, other.status)
      const told = (answer: { body: unknown }, id: string) =>
        JSON.stringify(answer.body)
          .replaceAll(id, 'X')
          .replaceAll(/req-[0-9a-f-]+/g, '')
      assert.equal(told(one, node), told(other, missing))
      return one.status
    }
    const post = (path: string, body: object) => api.post(path, body, member)
    assert.equal(await same(node => post('/v1/allocations', { resource_class, candidate_nodes: [node] }), foreign), 400)
    assert.equal(await same(node => post('/v1/allocations', { node }), active), 400)
    assert.equal(
      await same(node => post('/v1/reservations', { instance_uuid: missing, node_uuid: [node] }), foreign),
      409,
    )
    assert.equal(await same(node => api.get(`/v1/allocations?node=${node}`, member), foreign), 400)
    assert.equal(await same(node => api.get(`/v1/reservations?node=${node}`, member), foreign), 400)
    assert.equal(await same(node => api.get(`/v1/nodes/${node}/allocation`, member), foreign), 404)
    assert.equal(await same(node => api.del(`/v1/nodes/${node}/allocation`, member), foreign), 404)
  })

  void test('a member holds its own nodes, and others don’t see the hold', async () => {
    const { project, member, reader } = tenant()
    const other = tenant()
    const node = await api.node({ owner: project }, 'available')
    const wish = { instance_uuid: uuid(), node_uuid: [node] }
    expectFault(await api.post('/v1/reservations', wish, reader), 403)
    expectFault(await api.post('/v1/reservations', { ...wish, owner: uuid() }, member), 403)
    const { reservation } = expectStatus(await api.post('/v1/reservations', wish, member), 201).body
    assert.equal(reservation.owner, project)
    expectStatus(await api.get(`/v1/reservations/${reservation.uuid}`, reader), 200)
    expectFault(await api.get(`/v1/reservations/${reservation.uuid}`, other.reader), 404)
    expectFault(await api.put(`/v1/reservations/${reservation.uuid}`, {}, other.member), 404)
    expectFault(await api.del(`/v1/reservations/${reservation.uuid}`, other.member), 404)
    expectFault(await api.del(`/v1/reservations/${reservation.uuid}`, reader), 403)
    assert.equal((await api.get('/v1/reservations', other.reader)).body.reservations.length, 0)
    expectStatus(await api.del(`/v1/reservations/${reservation.uuid}`, member), 204)
  })

  void test('a hold can not take over a consumer that has something already', async () => {
    const { project, member } = tenant()
    const node = await api.node({ owner: project }, 'available')
    const provider = await api.placement.provider({ VCPU: 1 })
    const consumer = uuid()
    expectStatus(await api.placement.claim(consumer, { [provider]: { VCPU: 1 } }), 204)
    const wish = { uuid: consumer, instance_uuid: uuid(), node_uuid: [node] }
    for (const options of [member, newest()]) expectFault(await api.post('/v1/reservations', wish, options), 409)
    expectStatus(await api.placement.claim(consumer, { [provider]: { VCPU: 1 } }, 1), 204)
  })

  void test('the audit names who asked for an allocation and the conductor that found its node', async () => {
    const { project, member } = tenant()
    const resource_class = `class-${uuid()}`
    const node = await api.node({ resource_class, owner: project }, 'available')
    const answer = expectStatus(await api.post('/v1/allocations', { resource_class }, member), 201)
    await settled(answer.body.uuid)
    const response = await fetch(`${api.origin}/holdfast/v1/audit?object=${answer.body.uuid}`, {
      headers: { 'x-auth-token': 'admin' },
    })
    const { entries } = (await response.json()) as { entries: Record<string, unknown>[] }
    const request = answer.headers['x-openstack-request-id']
    assert.deepEqual(
      entries.map(entry => [entry['user'], entry['action'], entry['outcome'], entry['request_id']]),
      [
        ['conductor', 'conductor:allocate', 'done', request],
        ['member', 'baremetal:allocation:create', 'accepted', request],
      ],
    )
    const objects = entries[0]!['objects'] as { kind: string; id: string }[]
    assert.deepEqual(
      objects.map(({ kind, id }) => ({ kind, id })),
      [
        { kind: 'consumer', id: answer.body.uuid },
        { kind: 'allocation', id: answer.body.uuid },
        { kind: 'node', id: node },
      ],
    )
  })
})
