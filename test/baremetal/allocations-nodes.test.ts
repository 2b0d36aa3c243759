// What an allocation is to its node: how it ends, what it forbids, and how a node that is deployed gets one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Baremetal, eachMetal, expectFault, NEWEST, newClass, uuid, waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

eachMetal('allocations and their nodes', api => {
  const { placement } = api

  /** A node with an allocation. */
  async function pair(attributes: object = {}, request: object = {}) {
    const resource_class = newClass()
    const node = await api.node({ resource_class, ...attributes }, 'available')
    if ('traits' in request) await api.put(`/v1/nodes/${node}/traits`, { traits: request.traits })
    const { uuid: allocation } = await api.allocated({ resource_class, ...request })
    return { resource_class, node, allocation }
  }

  async function expectReleased({ node, allocation }: { node: string; allocation: string }) {
    expectFault(await api.get(`/v1/allocations/${allocation}`), 404)
    assert.deepEqual(await placement.claims(allocation), {})
    const shown = await api.show(node)
    assert.deepEqual([shown.instance_uuid, shown.allocation_uuid], [null, null])
    assert.ok(!('traits' in shown.instance_info))
    return shown
  }

  async function expectKept({ node, allocation }: { node: string; allocation: string }) {
    const shown = await api.show(node)
    assert.deepEqual([shown.instance_uuid, shown.allocation_uuid], [allocation, allocation])
    assert.equal((await api.allocation(allocation)).node_uuid, node)
    assert.equal(Object.keys(await placement.claims(allocation))[0], node)
  }

  const setMaintenance = async (node: string) => expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)

  /** The ways to end an allocation by hand. */
  const ways: Record<string, (of: { node: string; allocation: string }) => ReturnType<Baremetal['del']>> = {
    'DELETE of the allocation': ({ allocation }) => api.del(`/v1/allocations/${allocation}`),
    'DELETE of the node’s allocation': ({ node }) => api.del(`/v1/nodes/${node}/allocation`),
    'PATCH that takes instance_uuid away': ({ node }) => api.change(node, 'instance_uuid'),
  }

  for (const [way, end] of Object.entries(ways)) {
    void test(`${way} releases the node, and drops the traits that the allocation put there`, async () => {
      const made = await pair({ instance_info: { keep: 1 } }, { traits: ['CUSTOM_A'] })
      expectStatus(await end(made), 200, 204)
      assert.deepEqual((await expectReleased(made)).instance_info, { keep: 1 })
      expectStatus(await api.del(`/v1/nodes/${made.node}/traits`), 204)
      await api.go(made.node, 'active', 'active')
    })

    void test(`${way} is 409 while the node is active, unless it is in maintenance`, async () => {
      const made = await pair()
      await api.go(made.node, 'active', 'active')
      expectFault(await end(made), 409)
      await expectKept(made)
      await setMaintenance(made.node)
      expectStatus(await end(made), 200, 204)
      assert.equal((await expectReleased(made)).provision_state, 'active')
    })

    void test(`${way} frees a node whose machine failed, or didn’t call back and is in maintenance`, async () => {
      const failed = await pair({ driver_info: { fake_fail: 'deploy' } })
      await api.go(failed.node, 'active', 'deploy failed')
      expectStatus(await end(failed), 200, 204)
      assert.equal((await expectReleased(failed)).provision_state, 'deploy failed')
      const silent = await pair({ driver_info: { fake_wait: { deploy: 30 } } })
      await api.go(silent.node, 'active', 'wait call-back')
      expectFault(await end(silent), 409)
      await expectKept(silent)
      await setMaintenance(silent.node)
      expectStatus(await end(silent), 200, 204)
      await expectReleased(silent)
    })

    void test(`${way} is 409 while the node is being deployed`, async () => {
      const made = await pair({ driver_info: { fake_delay: { deploy: 0.5 } } })
      expectStatus(await api.provision(made.node, 'active'), 202)
      await waitFor('it is deploying', async () => (await api.show(made.node)).provision_state === 'deploying')
      expectFault(await end(made), 409)
      await api.until(made.node, 'active')
      await expectKept(made)
    })
  }

  void test('an allocation in error can be deleted, and so can one by its name', async () => {
    const name = `a-${uuid()}`
    await api.refused({ resource_class: newClass(), name })
    expectStatus(await api.del(`/v1/allocations/${name}`), 204)
    expectFault(await api.del(`/v1/allocations/${name}`), 404)
  })

  void test('undeploying a node ends its allocation', async () => {
    const made = await pair({}, { traits: ['CUSTOM_A'] })
    await api.go(made.node, 'active', 'active')
    await api.go(made.node, 'deleted', 'available')
    assert.deepEqual((await expectReleased(made)).instance_info, {})
    const { resource_class, node } = made
    assert.equal((await api.allocated({ resource_class })).node_uuid, node)
  })

  void test('the allocation of a node: 404 if there is none, 400 if its instance has nothing to do with one', async () => {
    const { node, allocation } = await pair()
    assert.deepEqual((await api.get(`/v1/nodes/${node}/allocation`, NEWEST)).body, await api.allocation(allocation))
    const free = await api.node({ name: `n-${uuid()}` }, 'available')
    expectFault(await api.get(`/v1/nodes/${free}/allocation`), 404)
    expectFault(await api.del(`/v1/nodes/${free}/allocation`), 404)
    for (const method of ['GET', 'DELETE']) {
      expectFault(await api.request(method, `/v1/nodes/${uuid()}/allocation`), 404)
      expectFault(await api.request(method, '/v1/nodes/nobody/allocation'), 404)
    }
    const other = await api.node({ instance_uuid: uuid() })
    expectFault(await api.get(`/v1/nodes/${other}/allocation`), 400)
    expectStatus(await api.del(`/v1/nodes/${other}/allocation`), 400, 404)
    assert.notEqual((await api.show(other)).instance_uuid, null)
  })

  void test('DELETE of an allocation is not for instances that were set by hand', async () => {
    const instance = uuid()
    const node = await api.node({ instance_uuid: instance }, 'available')
    expectFault(await api.del(`/v1/allocations/${instance}`), 404)
    assert.equal((await api.show(node)).instance_uuid, instance)
  })

  void test('the uuid of an allocation is nobody else’s instance', async () => {
    const failed = await api.refused({ resource_class: newClass() })
    const waiting = await api.allocate({ resource_class: newClass(), wait_until: '1h' })
    const { allocation: active } = await pair()
    const node = await api.node({}, 'available')
    for (const instance_uuid of [failed.uuid, waiting.uuid, active]) {
      expectFault(await api.change(node, 'instance_uuid', instance_uuid), 409)
      expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware', instance_uuid }), 409)
    }
    await api.fsck()
  })

  void test('what its consumer has elsewhere is not in an allocation’s way', async () => {
    const [resource_class, id] = [newClass(), uuid()]
    await api.allocate({ uuid: id, resource_class, wait_until: '1h' })
    const other = await placement.provider({ VCPU: 4 })
    expectStatus(await placement.claim(id, { [other]: { VCPU: 1 } }), 204)
    await api.fsck()
    const node = await api.node({ resource_class }, 'available')
    const { state, node_uuid, last_error } = await api.settled(id)
    if (state === 'active') assert.equal(node_uuid, node)
    else assert.match(last_error, new RegExp(id))
    expectStatus(await api.del(`/v1/allocations/${id}`), 204)
    assert.deepEqual(await placement.claims(id), { [other]: { VCPU: 1 } })
  })

  void test('neither instance nor allocation can be replaced on a node that has one', async () => {
    const made = await pair()
    expectFault(await api.change(made.node, 'instance_uuid', uuid()), 409)
    const patches = [{ op: 'add', value: uuid() }, { op: 'replace', value: null }, { op: 'remove' }]
    for (const patch of patches) {
      expectFault(await api.patch(`/v1/nodes/${made.node}`, [{ ...patch, path: '/allocation_uuid' }]), 400)
    }
    expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware', allocation_uuid: uuid() }), 400)
    await expectKept(made)
    // Its own again changes nothing.
    expectStatus(await api.change(made.node, 'instance_uuid', made.allocation), 200)
    await expectKept(made)
  })

  void test('an instance that was set by hand is set and unset in any state; only work in progress is waited for', async () => {
    const instance = uuid()
    const failing = { driver_info: { fake_fail: 'deploy' } }
    for (const [state, attributes] of [['active', {}] as const, ['deploy failed', failing] as const]) {
      const node = await api.node({ resource_class: newClass(), instance_uuid: instance, ...attributes }, 'available')
      await api.go(node, 'active', state)
      expectStatus(await api.change(node, 'instance_uuid'), 200)
      assert.deepEqual(await placement.claims(instance), {})
      expectStatus(await api.change(node, 'instance_uuid', instance), 200)
      assert.equal(Object.keys(await placement.claims(instance))[0], node)
      expectStatus(await api.change(node, 'instance_uuid'), 200)
    }
    const node = await api.node({ instance_uuid: instance, driver_info: { fake_wait: { deploy: 30 } } }, 'available')
    await api.go(node, 'active', 'wait call-back')
    expectFault(await api.change(node, 'instance_uuid'), 409)
    await setMaintenance(node)
    expectFault(await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/extra/a', value: 1 }]), 409)
    expectStatus(await api.change(node, 'instance_uuid'), 200)
    assert.deepEqual(await placement.claims(instance), {})
  })

  void test('a node with an allocation is deleted only in maintenance, and the allocation goes with it', async () => {
    const { node, allocation } = await pair()
    expectFault(await api.del(`/v1/nodes/${node}`), 409)
    await setMaintenance(node)
    expectStatus(await api.del(`/v1/nodes/${node}`), 204)
    expectFault(await api.get(`/v1/allocations/${allocation}`), 404)
    expectFault(await api.get(`/v1/nodes/${node}`), 404)
    assert.deepEqual(await placement.claims(allocation), {})
  })

  void test('a candidate may be deleted; the allocation that named it stays', async () => {
    const resource_class = newClass()
    const [one, two] = [
      await api.node({ resource_class }, 'available'),
      await api.node({ resource_class }, 'available'),
    ]
    const { uuid: id, node_uuid } = await api.allocated({ resource_class, candidate_nodes: [one, two] })
    expectStatus(await api.del(`/v1/nodes/${node_uuid === one ? two : one}`), 204)
    assert.equal((await api.allocation(id)).node_uuid, node_uuid)
  })
})

eachMetal('backfill', api => {
  void test('a node that is deployed gets an allocation that is active at once', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class, name: `n-${uuid()}` }, 'active')
    const { body } = expectStatus(await api.post('/v1/allocations', { node }, { version: '1.58' }), 201)
    assert.deepEqual([body.state, body.node_uuid, body.resource_class], ['active', node, resource_class])
    const shown = await api.show(node)
    assert.deepEqual([shown.instance_uuid, shown.allocation_uuid], [body.uuid, body.uuid])
    assert.equal((await api.placement.get(`/allocations/${body.uuid}`)).body.consumer_type, 'ALLOCATION')
    await api.go(node, 'deleted', 'available')
    expectFault(await api.get(`/v1/allocations/${body.uuid}`), 404)
  })

  void test('before its version the node is a bad request, as upstream', async () => {
    const node = await api.node({ resource_class: newClass() }, 'active')
    expectFault(await api.post('/v1/allocations', { node }, { version: '1.57' }), 400, /Cannot set node.*1\.58/)
    assert.equal((await api.show(node)).allocation_uuid, null)
  })

  void test('its uuid is that of the instance, if the node has one', async () => {
    const [resource_class, instance] = [newClass(), uuid()]
    const name = `n-${uuid()}`
    const node = await api.node({ resource_class, name, instance_uuid: instance }, 'active')
    const before = await api.placement.claims(instance)
    const { body } = expectStatus(await api.post('/v1/allocations', { node: name, name: `a-${name}` }), 201)
    assert.deepEqual([body.uuid, body.state, body.node_uuid], [instance, 'active', node])
    assert.deepEqual(await api.placement.claims(instance), before)
    expectFault(await api.post('/v1/allocations', { node }), 409)
  })

  void test('what does not fit is refused and leaves nothing behind', async () => {
    const resource_class = newClass()
    const [deployed, available] = [
      await api.node({ resource_class, instance_uuid: uuid() }, 'active'),
      await api.node({ resource_class }, 'available'),
    ]
    const refusals: [object, number[]][] = [
      [{ node: available }, [400, 409]],
      [{ node: uuid() }, [400]],
      [{ node: 'nobody' }, [400]],
      [{ node: 7 }, [400]],
      [{ node: deployed, uuid: uuid() }, [400, 409]],
      [{ node: deployed, resource_class: newClass() }, [400, 409]],
      [{ node: deployed, traits: ['CUSTOM_LACKING'] }, [400, 409]],
    ]
    for (const [body, statuses] of refusals) expectStatus(await api.post('/v1/allocations', body), ...statuses)
    assert.deepEqual((await api.get(`/v1/allocations?resource_class=${resource_class}`)).body.allocations, [])
    assert.equal((await api.show(available)).instance_uuid, null)
    expectStatus(await api.post('/v1/allocations', { node: deployed, resource_class }), 201)
  })
})
