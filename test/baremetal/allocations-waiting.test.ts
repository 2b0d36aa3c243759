// Allocations that wait for a node, in the order in which they came, and ones that are tried again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clients } from '../races/clients.ts'
import { classInPlacement, eachMetal, expectFault, NEWEST, newClass, uuid, waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const WAIT = { wait_until: '1h' }

eachMetal('allocations that wait', api => {
  const state = async (ident: string) => (await api.allocation(ident)).state
  const release = async (ident: string) => expectStatus(await api.del(`/v1/allocations/${ident}`), 204)

  /** Another with the same wish has its answer: whoever still waits was passed by on purpose. */
  const othersAreRefused = (wish: object) => api.refused(wish)

  void test('one that waits is under way while nothing fits, and then gets the node', async () => {
    const resource_class = newClass()
    const { uuid: id } = await api.allocate({ resource_class, ...WAIT })
    await othersAreRefused({ resource_class })
    const waiting = await api.allocation(id)
    assert.deepEqual([waiting.state, waiting.node_uuid], ['allocating', null])
    const node = await api.node({ resource_class }, 'available')
    const settled = await api.settled(id)
    assert.deepEqual([settled.state, settled.node_uuid, settled.last_error], ['active', node, null])
    assert.equal((await api.show(node)).allocation_uuid, id)
  })

  void test('one that need not wait has its node as ever', async () => {
    const resource_class = newClass()
    await api.node({ resource_class }, 'available')
    await api.allocated({ resource_class, ...WAIT })
  })

  void test('every way in which a node becomes free is noticed', async () => {
    const resource_class = newClass()
    const amounts = { [classInPlacement(resource_class)]: 1 }
    const node = await api.node({ resource_class }, 'available')
    await api.put(`/v1/nodes/${node}/traits`, { traits: ['CUSTOM_A'] })
    const path = `/v1/nodes/${node}`
    const consumer = uuid()
    const ways: Record<string, [take: () => Promise<unknown>, free: () => Promise<unknown>]> = {
      'an allocation is deleted': [
        () => api.allocated({ resource_class, name: 'holder' }),
        () => api.del('/v1/allocations/holder'),
      ],
      'an instance is taken away': [
        () => api.change(node, 'instance_uuid', uuid()),
        () => api.change(node, 'instance_uuid'),
      ],
      'a hold is deleted': [
        () => api.hold([node]),
        async () => api.del(`/v1/reservations/${(await api.get(path, NEWEST)).body.reservation_uuid}`, NEWEST),
      ],
      'a hold lapses': [() => api.hold([node], { expires_at: 1 }), async () => {}],
      'a claim in Placement is deleted': [
        () => api.placement.claim(consumer, { [node]: amounts }),
        () => api.placement.del(`/allocations/${consumer}`),
      ],
      'maintenance ends': [() => api.put(`${path}/maintenance`), () => api.del(`${path}/maintenance`)],
      'it is undeployed': [() => api.go(node, 'active', 'active'), () => api.go(node, 'deleted', 'available')],
      'it is provided': [() => api.go(node, 'manage', 'manageable'), () => api.provision(node, 'provide')],
      'it gets the trait': [() => api.del(`${path}/traits`), () => api.put(`${path}/traits/CUSTOM_A`)],
      'it gets the class': [
        () => api.change(node, 'resource_class', 'another'),
        () => api.change(node, 'resource_class', resource_class),
      ],
    }
    const succeed = async (act: () => Promise<unknown>) => {
      const { status } = ((await act()) ?? {}) as { status?: number }
      assert.ok(status === undefined || status < 300, `${act.toString()} was answered ${status}`)
    }
    for (const [way, [take, free]] of Object.entries(ways)) {
      await succeed(take)
      const wish = { resource_class, traits: ['CUSTOM_A'] }
      const { uuid: id } = await api.allocate({ ...wish, ...WAIT })
      await othersAreRefused(wish)
      assert.equal(await state(id), 'allocating', way)
      await succeed(free)
      const got = await waitFor(`it has its node when ${way}`, async () => (await api.allocation(id)).node_uuid)
      assert.equal(got, node, way)
      await release(id)
    }
  })

  void test('who came first is served first', async () => {
    const resource_class = newClass()
    const nodes = await Promise.all(Array.from({ length: 3 }, () => api.node({ resource_class }, 'manageable')))
    const waiting: string[] = []
    for (let i = 0; i < 4; i++) waiting.push((await api.allocate({ resource_class, ...WAIT })).uuid)
    for (const [i, node] of nodes.entries()) {
      await api.go(node, 'provide', 'available')
      assert.equal((await api.settled(waiting[i]!)).node_uuid, node)
      for (const later of waiting.slice(i + 1)) assert.equal(await state(later), 'allocating')
    }
    await release(waiting[0]!)
    assert.equal((await api.settled(waiting[3]!)).node_uuid, nodes[0])
  })

  void test('one whom the free node does not satisfy is passed by, and keeps its place', async () => {
    const resource_class = newClass()
    const [plain, gold] = [await api.node({ resource_class }), await api.node({ resource_class })]
    await api.put(`/v1/nodes/${gold}/traits/CUSTOM_GOLD`)
    for (const node of [plain, gold]) await api.go(node, 'manage', 'manageable')
    const picky = await api.allocate({ resource_class, traits: ['CUSTOM_GOLD'], ...WAIT })
    const modest = await api.allocate({ resource_class, ...WAIT })
    const last = await api.allocate({ resource_class, ...WAIT })
    await api.go(plain, 'provide', 'available')
    assert.equal((await api.settled(modest.uuid)).node_uuid, plain)
    assert.equal(await state(picky.uuid), 'allocating')
    await api.go(gold, 'provide', 'available')
    assert.equal((await api.settled(picky.uuid)).node_uuid, gold)
    assert.equal(await state(last.uuid), 'allocating')
    await release(last.uuid)
  })

  void test('nobody who waits for something else is in the way', async () => {
    const resource_class = newClass()
    const picky = await api.allocate({ resource_class, traits: ['CUSTOM_GOLD'], ...WAIT })
    const node = await api.node({ resource_class }, 'available')
    assert.equal((await api.allocated({ resource_class })).node_uuid, node)
    assert.equal(await state(picky.uuid), 'allocating')
    await release(picky.uuid)
  })

  void test('a newcomer stands behind those who wait, however close it comes', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'available')
    let holder = (await api.allocated({ resource_class })).uuid
    for (let round = 0; round < 20; round++) {
      const { uuid: first } = await api.allocate({ resource_class, ...WAIT })
      const [, ...newcomers] = await Promise.all([
        release(holder),
        ...Array.from({ length: 4 }, (_, i) => api.allocate({ resource_class, ...(i % 2 === 0 && WAIT) })),
      ])
      assert.equal((await api.settled(first)).node_uuid, node)
      for (const { uuid: newcomer } of newcomers) await release(newcomer)
      holder = first
    }
  })

  void test('many who wait all get a node when there is one for each', async () => {
    const resource_class = newClass()
    const nodes = await Promise.all(Array.from({ length: 12 }, () => api.node({ resource_class }, 'manageable')))
    const waiting = await clients(12, async () => (await api.allocate({ resource_class, ...WAIT })).uuid as string)
    await clients(12, async i => expectStatus(await api.provision(nodes[i]!, 'provide'), 202))
    const got = await Promise.all(waiting.map(async id => (await api.settled(id)).node_uuid as string))
    assert.deepEqual(got.toSorted(), nodes.toSorted())
  })

  void test('one that is deleted while it waits leaves its place to the next', async () => {
    const resource_class = newClass()
    const [first, second] = [
      await api.allocate({ resource_class, ...WAIT }),
      await api.allocate({ resource_class, ...WAIT }),
    ]
    await release(first.uuid)
    const node = await api.node({ resource_class }, 'available')
    assert.equal((await api.settled(second.uuid)).node_uuid, node)
    expectFault(await api.get(`/v1/allocations/${first.uuid}`), 404)
  })

  void test('when the time is over it is in error and says why, and a node that comes later is not for it', async () => {
    const resource_class = newClass()
    const { uuid: id } = await api.allocate({ resource_class, wait_until: 1 })
    const settled = await api.settled(id)
    assert.equal(settled.state, 'error')
    assert.ok(settled.last_error.startsWith(`Failed to process allocation ${id}: `), settled.last_error)
    const node = await api.node({ resource_class }, 'available')
    assert.equal((await api.allocated({ resource_class })).node_uuid, node)
    assert.equal(await state(id), 'error')
  })

  void test('wait_until is an instant or a duration; anything else is 400', async () => {
    const resource_class = newClass()
    const instant = `${new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)}+00:00`
    for (const wait_until of [instant, 3600, '90s', '10m', '2h', '1d', 'PT10M', null]) {
      expectStatus(await api.post('/v1/allocations', { resource_class, wait_until }, NEWEST), 201)
    }
    for (const wait_until of ['soon', '', -1, {}, [], true, '10x', 'PT', '2026-13-01T00:00:00Z']) {
      expectFault(await api.post('/v1/allocations', { resource_class, wait_until }, NEWEST), 400)
    }
  })

  void test('who waits may be let wait longer or less long, and keeps the place', async () => {
    const resource_class = newClass()
    const move = (ident: string, value: unknown) =>
      api.patch(`/v1/allocations/${ident}`, [{ op: 'add', path: '/wait_until', value }], NEWEST)
    const { uuid: first } = await api.allocate({ resource_class, wait_until: 2 })
    const { uuid: second } = await api.allocate({ resource_class, ...WAIT })
    const { body } = expectStatus(await move(first, '1h'), 200)
    assert.ok(Date.parse(body.wait_until) > Date.now() + 1_800_000)
    for (const wrong of ['soon', null, '2020-01-01T00:00:00Z']) expectFault(await move(first, wrong), 400)
    expectStatus(await move(second, 1), 200)
    assert.equal((await api.settled(second)).state, 'error')
    assert.equal(await state(first), 'allocating')
    expectFault(await move(second, '1h'), 409)
    const node = await api.node({ resource_class }, 'available')
    assert.equal((await api.settled(first)).node_uuid, node)
    expectFault(await move(first, '2h'), 409)
  })

  void test('who waits keeps no worker busy: others are served meanwhile', async () => {
    const [scarce, plenty] = [newClass(), newClass()]
    const waiting = await clients(100, async () => (await api.allocate({ resource_class: scarce, ...WAIT })).uuid)
    const node = await api.node({ resource_class: plenty }, 'available')
    assert.equal((await api.allocated({ resource_class: plenty })).node_uuid, node)
    await clients(100, async i => release(waiting[i]))
  })
})

eachMetal('allocations that are tried again', api => {
  const retry = (ident: string, body?: object) => api.operator('POST', `/allocations/${ident}/retry`, body)

  void test('from error back to allocating, and then as any other', async () => {
    const [resource_class, name] = [newClass(), `a-${uuid()}`]
    const { uuid: id } = await api.refused({ resource_class, name })
    const { body } = expectStatus(await retry(id), 202)
    assert.deepEqual([body.uuid, body.state, body.node_uuid], [id, 'allocating', null])
    assert.equal((await api.settled(id)).state, 'error')
    const node = await api.node({ resource_class }, 'available')
    expectStatus(await retry(name), 202)
    const settled = await api.settled(id)
    assert.deepEqual([settled.state, settled.node_uuid, settled.last_error], ['active', node, null])
  })

  void test('one that is tried again may wait this time', async () => {
    const resource_class = newClass()
    const { uuid: id } = await api.refused({ resource_class })
    expectStatus(await retry(id, WAIT), 202)
    await api.refused({ resource_class })
    assert.equal((await api.allocation(id)).state, 'allocating')
    const node = await api.node({ resource_class }, 'available')
    assert.equal((await api.settled(id)).node_uuid, node)
    const { uuid: other } = await api.refused({ resource_class })
    for (const body of [{ wait_until: 'soon' }, { nonsense: 1 }, []]) expectStatus(await retry(other, body), 400)
    assert.equal((await api.allocation(other)).state, 'error')
  })

  void test('409 from any other state, 404 for an unknown one', async () => {
    const resource_class = newClass()
    await api.node({ resource_class }, 'available')
    const active = await api.allocated({ resource_class })
    const waiting = await api.allocate({ resource_class, ...WAIT })
    for (const { uuid: id } of [active, waiting]) expectStatus(await retry(id), 409)
    for (const ident of [uuid(), 'nobody', '%00']) expectStatus(await retry(ident), 400, 404)
    assert.equal((await api.allocation(active.uuid)).state, 'active')
  })

  void test('many may retry at once: it is under way or it is not', async () => {
    const { uuid: id } = await api.refused({ resource_class: newClass() })
    const answers = await clients(16, () => retry(id))
    for (const answer of answers) expectStatus(answer, 202, 409)
    assert.ok(answers.some(answer => answer.status === 202))
    assert.equal((await api.settled(id)).state, 'error')
  })
})
