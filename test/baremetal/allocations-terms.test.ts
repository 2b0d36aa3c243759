// Allocations with an end: when it comes the node is released, and torn down first if it is deployed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Baremetal, eachMetal, expectFault, NEWEST, newClass, waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const HOUR_S = 3600

const terms = (api: Baremetal) => {
  const renew = (ident: string, value: unknown) =>
    api.patch(`/v1/allocations/${ident}`, [{ op: 'replace', path: '/expires_at', value }], NEWEST)
  const isGone = async (ident: string) => (await api.get(`/v1/allocations/${ident}`, NEWEST)).status === 404
  const seconds = (time: string) => Date.parse(time) / 1000
  const later = async (byS: number) => new Date((await api.now()) + byS * 1000).toISOString().slice(0, 19)
  const passTo = (expires_at: string) => api.moveTo(Date.parse(expires_at) + 1)

  async function freeNode(attributes: object = {}) {
    const resource_class = newClass()
    return { resource_class, node: await api.node({ resource_class, ...attributes }, 'available') }
  }

  void test('an instant or a duration in any form', async () => {
    const durations: [unknown, number][] = [
      [90, 90],
      ['90s', 90],
      ['10m', 600],
      ['2h', 2 * HOUR_S],
      ['1d', 24 * HOUR_S],
      ['PT10M', 600],
      ['PT1H30M', 1.5 * HOUR_S],
      ['P1D', 24 * HOUR_S],
    ]
    for (const [given, expected] of durations) {
      const { created_at, expires_at } = await api.allocate({ resource_class: newClass(), expires_at: given })
      const found = seconds(expires_at) - seconds(created_at)
      // Both are told in whole seconds.
      assert.ok(Math.abs(found - expected) <= 1, `${JSON.stringify(given)} is ${found} s`)
    }
    const instant = `${await later(HOUR_S)}+00:00`
    for (const form of [instant, instant.replace('+00:00', 'Z'), instant.replace('+00:00', '.000Z')]) {
      assert.equal((await api.allocate({ resource_class: newClass(), expires_at: form })).expires_at, instant)
    }
    const abroad = `${await later(3 * HOUR_S)}+02:00`
    const { expires_at } = await api.allocate({ resource_class: newClass(), expires_at: abroad })
    assert.equal(Date.parse(expires_at), Date.parse(abroad))
    assert.equal((await api.allocate({ resource_class: newClass() })).expires_at, null)
  })

  void test('anything else is 400 and changes nothing', async () => {
    const { resource_class, node } = await freeNode()
    const wrong = [
      'soon',
      '',
      '10x',
      'm',
      '-5m',
      'P',
      'PT',
      -5,
      {},
      [],
      true,
      '2020-01-01T00:00:00Z',
      '2026-13-01T00:00:00Z',
    ]
    for (const expires_at of wrong) {
      expectFault(await api.post('/v1/allocations', { resource_class, expires_at }, NEWEST), 400)
    }
    assert.deepEqual((await api.get(`/v1/allocations?resource_class=${resource_class}`)).body.allocations, [])
    assert.equal((await api.show(node)).instance_uuid, null)
    const { uuid: id, expires_at } = await api.allocated({ resource_class, expires_at: '1h' })
    for (const value of wrong) expectFault(await renew(id, value), 400)
    assert.equal((await api.allocation(id)).expires_at, expires_at)
  })

  void test('when it lapses the node is free again, and the allocation is gone', async () => {
    const { resource_class, node } = await freeNode()
    await api.put(`/v1/nodes/${node}/traits/CUSTOM_A`)
    const { uuid: id, expires_at } = await api.allocated({ resource_class, traits: ['CUSTOM_A'], expires_at: '5m' })
    await passTo(expires_at)
    await waitFor('it has lapsed', () => isGone(id))
    const shown = await api.until(node, 'available')
    assert.deepEqual([shown.instance_uuid, shown.allocation_uuid, shown.instance_info], [null, null, {}])
    assert.deepEqual(await api.placement.claims(id), {})
    assert.equal((await api.allocated({ resource_class })).node_uuid, node)
  })

  void test('a node that is deployed is torn down first', async () => {
    const { resource_class, node } = await freeNode({ driver_info: { fake_delay: { clean: 0.2 } } })
    const { uuid: id, expires_at } = await api.allocated({ resource_class, expires_at: '5m' })
    await api.go(node, 'active', 'active')
    await passTo(expires_at)
    await waitFor('it has lapsed', () => isGone(id))
    const { uuid: next } = await api.allocate({ resource_class, wait_until: '1h' })
    assert.equal((await api.settled(next)).node_uuid, node)
    const shown = await api.show(node)
    assert.deepEqual([shown.provision_state, shown.instance_uuid], ['available', next])
  })

  // In real time, with nobody to move the clock.
  void test('one that has no node at its end goes too', async () => {
    const { uuid: failed } = await api.allocate({ resource_class: newClass(), expires_at: 1 })
    const { uuid: waiting } = await api.allocate({ resource_class: newClass(), expires_at: 1, wait_until: '1h' })
    for (const id of [failed, waiting]) await waitFor('it has lapsed', () => isGone(id))
  })

  void test('it can be renewed, shortened, and given an end when it had none', async () => {
    const { resource_class, node } = await freeNode()
    const { uuid: kept, expires_at: first } = await api.allocated({ resource_class, expires_at: '5m' })
    const { body } = expectStatus(await renew(kept, '1h'), 200)
    assert.ok(seconds(body.expires_at) > seconds(first) + HOUR_S / 2)
    const other = await freeNode()
    const { uuid: ended } = await api.allocated({ resource_class: other.resource_class })
    const patch = [{ op: 'add', path: '/expires_at', value: '6m' }]
    const given = expectStatus(await api.patch(`/v1/allocations/${ended}`, patch, NEWEST), 200)
    // Later than the end that the first one had.
    await passTo(given.body.expires_at)
    await waitFor('the other has lapsed', () => isGone(ended))
    assert.equal((await api.allocation(kept)).node_uuid, node)
    await passTo(expectStatus(await renew(kept, '1m'), 200).body.expires_at)
    await waitFor('it has lapsed', () => isGone(kept))
  })

  void test('an end can be taken away', async () => {
    const { resource_class } = await freeNode()
    const { uuid: id } = await api.allocated({ resource_class, expires_at: '1h' })
    const patch = [{ op: 'remove', path: '/expires_at' }]
    assert.equal(expectStatus(await api.patch(`/v1/allocations/${id}`, patch, NEWEST), 200).body.expires_at, null)
  })

  void test('a node in maintenance is released all the same', async () => {
    const { resource_class, node } = await freeNode()
    const { uuid: id, expires_at } = await api.allocated({ resource_class, expires_at: '5m' })
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)
    await passTo(expires_at)
    await waitFor('it has lapsed', () => isGone(id))
    const shown = await api.show(node)
    assert.deepEqual([shown.instance_uuid, shown.maintenance], [null, true])
  })
}

eachMetal('allocations with an end', terms, { testClock: true })
