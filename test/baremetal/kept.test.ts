// Kept allocations: someone's command runs on the node. Whoever else ends one asks first, and nobody gets the node before
// the keeper lets go or the promised time is over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Baremetal, eachMetal, expectFault, NEWEST, newClass, uuid, waitFor } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import { expectStatus } from '../support/placement.ts'
import { rounds } from '../support/rounds.ts'

const KEEPER = 'alice@laptop/0123456789abcdef'
const ROUNDS = rounds(5, 100)
const OLDER = { version: '1.82' }

const kept = (api: Baremetal) => {
  const renew = (ident: string, value: unknown, keeper?: string, options: object = NEWEST) =>
    api.patch(
      `/v1/allocations/${ident}${keeper === undefined ? '' : `?keeper=${encodeURIComponent(keeper)}`}`,
      [{ op: 'replace', path: '/expires_at', value }],
      options,
    )
  const end = (ident: string, query: Record<string, string> = {}, options: object = NEWEST) =>
    api.del(`/v1/allocations/${ident}?${new URLSearchParams(query).toString()}`, options)
  const isGone = async (ident: string) => (await api.get(`/v1/allocations/${ident}`, NEWEST)).status === 404
  const passTo = (expires_at: string) => api.moveTo(Date.parse(expires_at) + 1)

  /** A node, the allocation that keeps it, and someone who waits for it. */
  async function begun(more: object = {}) {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'available')
    const held = await api.allocated({ resource_class, expires_at: '10m', keeper: KEEPER, ...more })
    const { uuid: next } = await api.allocate({ resource_class, wait_until: '20h' })
    return { node, held, next, resource_class }
  }
  const nextGets = async (next: string, node: string) => assert.equal((await api.settled(next)).node_uuid, node)
  const nextWaits = async (next: string) => assert.equal((await api.allocation(next)).state, 'allocating')

  void test('its end by someone else is written down, and its keeper has the node until it lets go', async () => {
    const { node, held, next } = await begun()
    assert.equal(held.keeper, 'alice@laptop')
    assert.equal(held.ending, null)
    const asked = expectStatus(await end(held.uuid, { message: 'the demo needs it' }), 202).body
    const { by, message, until, at } = asked.ending
    assert.deepEqual([message, until], ['the demo needs it', held.expires_at])
    assert.ok(by.length > 0 && Date.parse(at) <= Date.parse(until))
    assert.deepEqual(expectStatus(await end(held.uuid, { message: 'again' }), 202).body, asked, 'changes nothing')
    assert.deepEqual(expectStatus(await api.del(`/v1/nodes/${node}/allocation`, NEWEST), 202).body, asked)
    expectFault(await renew(held.uuid, '1h', KEEPER), 409, /ends allocation .*: the demo needs it\. It lasts until/)
    assert.equal((await api.allocation(held.uuid)).expires_at, held.expires_at)
    await nextWaits(next)
    expectFault(await end(held.uuid, { keeper: 'alice@laptop/fedcba9876543210' }), 409, /another keeper/)
    await nextWaits(next)
    expectStatus(await end(held.uuid, { keeper: KEEPER }), 204)
    assert.equal(await isGone(held.uuid), true)
    await nextGets(next, node)
  })

  void test('without its keeper it ends when its time is over, and not before', async () => {
    const { node, held, next } = await begun()
    expectStatus(await end(held.uuid), 202)
    await api.moveTo(Date.parse(held.expires_at) - 60_000)
    await nextWaits(next)
    await passTo(held.expires_at)
    await nextGets(next, node)
    assert.equal(await isGone(held.uuid), true)
  })

  void test('the proof is shown to nobody, and older versions see nothing of it', async () => {
    const { held, node } = await begun({ planned_end: '2h' })
    assert.ok(held.planned_end !== null)
    const shown = [
      await api.get(`/v1/allocations/${held.uuid}`, NEWEST),
      await api.get('/v1/allocations', NEWEST),
      await api.get(`/v1/nodes/${node}/allocation`, NEWEST),
    ]
    for (const { body } of shown) assert.doesNotMatch(JSON.stringify(body), /0123456789abcdef/)
    const old = await api.allocation(held.uuid, OLDER)
    for (const field of ['keeper', 'planned_end', 'ending']) {
      assert.equal(field in old, false)
      expectFault(await api.get(`/v1/allocations?fields=${field}`, OLDER), 406)
    }
    expectFault(await end(held.uuid, { keeper: KEEPER }, OLDER), 406)
    const asked = expectStatus(await end(held.uuid, {}, OLDER), 202).body
    assert.equal('ending' in asked, false)
    assert.notEqual((await api.allocation(held.uuid)).ending, null)
  })

  void test('an admin who means it ends it at once', async () => {
    const { node, held, next } = await begun()
    expectFault(await end(held.uuid, { now: 'perhaps' }), 400)
    expectStatus(await end(held.uuid), 202)
    expectStatus(await end(held.uuid, { now: 'true' }), 204)
    await nextGets(next, node)
  })

  void test('a member of its project may ask for the end, and not take it at once', async () => {
    const project = uuid()
    const member = { ...as('member', project), ...NEWEST }
    const resource_class = newClass()
    await api.node({ resource_class, owner: project }, 'available')
    const { uuid: held } = await api.allocated({ resource_class, owner: project, expires_at: '10m', keeper: KEEPER })
    expectFault(await end(held, { now: 'true' }, member), 403, /allocation:delete_now/)
    assert.equal((await api.allocation(held)).ending, null)
    expectStatus(await end(held, {}, member), 202)
    expectFault(await end(held, { now: 'true' }, member), 403)
    expectStatus(await end(held, { keeper: KEEPER }, member), 204)
  })

  void test('only its keeper may shorten it, and it always has an end', async () => {
    const { held } = await begun()
    expectFault(await renew(held.uuid, '1m'), 409, /kept by alice@laptop until/)
    expectFault(await api.patch(`/v1/allocations/${held.uuid}`, [{ op: 'remove', path: '/expires_at' }], NEWEST), 400)
    expectFault(await renew(held.uuid, '1m', 'alice@laptop/fedcba9876543210'), 409, /another keeper/)
    assert.equal((await api.allocation(held.uuid)).expires_at, held.expires_at)
    expectStatus(await renew(held.uuid, '1h'), 200)
    expectStatus(await renew(held.uuid, '5m', KEEPER), 200)
    expectStatus(await end(held.uuid), 202)
    expectStatus(await renew(held.uuid, '1m', KEEPER), 200)
    const { expires_at, ending } = await api.allocation(held.uuid)
    assert.equal(ending.until, expires_at)
    const planned = [{ op: 'add', path: '/planned_end', value: '2030-01-01T10:00:00Z' }]
    const { planned_end, expires_at: unchanged } = expectStatus(
      await api.patch(`/v1/allocations/${held.uuid}`, planned, NEWEST),
      200,
    ).body
    assert.deepEqual([planned_end, unchanged], ['2030-01-01T10:00:00+00:00', expires_at])
    const name = [{ op: 'add', path: '/name', value: `n-${held.uuid}` }]
    expectStatus(await api.patch(`/v1/allocations/${held.uuid}`, name, NEWEST), 200)
  })

  void test('what isn’t kept ends at once, as ever', async () => {
    const resource_class = newClass()
    const waiting = await api.allocate({ resource_class, wait_until: '1h', expires_at: '2h', keeper: KEEPER })
    expectStatus(await end(waiting.uuid), 204)
    const failed = await api.refused({ resource_class, expires_at: '2h', keeper: KEEPER })
    expectStatus(await end(failed.uuid), 204)
    await api.node({ resource_class }, 'available')
    const plain = await api.allocated({ resource_class, expires_at: '2h' })
    expectFault(await end(plain.uuid, { keeper: KEEPER }), 409)
    expectStatus(await end(plain.uuid, { message: 'x' }), 204)
  })

  void test('what makes no sense is 400', async () => {
    const { held, resource_class } = await begun()
    const wrong = [
      { keeper: KEEPER },
      { keeper: KEEPER, expires_at: '1h', node: held.node_uuid },
      ...[
        '',
        'alice',
        'alice/short',
        '/0123456789abcdef',
        'a/b/0123456789abcdef',
        'a\u009b31m/0123456789abcdef',
        `${'x'.repeat(101)}/0123456789abcdef`,
        7,
      ].map(keeper => ({ keeper, expires_at: '1h' })),
      { planned_end: 'soon' },
    ]
    for (const more of wrong) {
      const body = { resource_class, ...more }
      expectFault(await api.post('/v1/allocations', body, NEWEST), 400)
    }
    expectFault(await api.post('/v1/allocations', { resource_class, keeper: KEEPER, expires_at: '1h' }, OLDER), 406)
    for (const message of ['x'.repeat(301), '\u001b[31mred', 'two\nlines'])
      expectFault(await end(held.uuid, { message }), 400)
    assert.equal((await api.allocation(held.uuid)).ending, null)
  })

  void test('nobody gets the node by any other way', async () => {
    const { node, held, next } = await begun()
    const isKept = async () => {
      assert.equal((await api.show(node)).instance_uuid, held.uuid)
      await nextWaits(next)
    }
    expectFault(await api.change(node, 'instance_uuid'), 409, /kept by alice@laptop/)
    expectStatus(await api.placement.del(`/allocations/${held.uuid}`), 409)
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`, {}), 202)
    expectFault(await api.change(node, 'instance_uuid'), 409, /kept by alice@laptop/)
    expectFault(await api.del(`/v1/nodes/${node}`), 409, /kept by alice@laptop/)
    await isKept()
    expectStatus(await api.del(`/v1/nodes/${node}/maintenance`), 202)
    // Torn down, it stays with its keeper, who may deploy it again.
    await api.go(node, 'active', 'active')
    await api.go(node, 'deleted', 'available')
    await isKept()
    await api.go(node, 'active', 'active')
    expectStatus(await end(held.uuid), 202)
    expectFault(await end(held.uuid, { keeper: KEEPER }), 409, /in state "active"/)
    expectStatus(await renew(held.uuid, '1s', KEEPER), 200)
    await passTo((await api.allocation(held.uuid)).expires_at)
    await nextGets(next, node)
    await waitFor('it is gone', () => isGone(held.uuid))
  })

  void test('whoever ends it while its keeper renews it is told when it ends, and nothing changes that', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { held, next, node } = await begun()
      const [asked, renewed] = await Promise.all([end(held.uuid), renew(held.uuid, '20m', KEEPER)])
      const { ending } = expectStatus(asked, 202).body
      expectStatus(renewed, 200, 409)
      assert.equal(renewed.status === 200, ending.until !== held.expires_at)
      assert.equal((await api.allocation(held.uuid)).expires_at, ending.until)
      const [kicked, confirmed] = await Promise.all([end(held.uuid), end(held.uuid, { keeper: KEEPER })])
      expectStatus(confirmed, 204)
      expectStatus(kicked, 202, 404)
      await nextGets(next, node)
    }
  })

  void test('a dry run says what would be touched, and asks nobody', async () => {
    const { held, next } = await begun()
    const { body } = expectStatus(await api.operator('GET', `/explain/deletions/allocations/${held.uuid}`), 200)
    assert.deepEqual(body.objects, [{ kind: 'allocation', id: held.uuid }])
    assert.equal((await api.allocation(held.uuid)).ending, null)
    await nextWaits(next)
  })
}

eachMetal('kept allocations', kept, { testClock: true })
