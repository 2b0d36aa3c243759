// Holds end by themselves: how long they last, how they are renewed, and that a lapsed one is gone for everyone at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Baremetal,
  classInPlacement,
  eachMetal,
  expectFault,
  NEWEST,
  newClass,
  uuid,
  waitFor,
} from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const MINUTE_S = 60
const HOUR_S = 3600
const seconds = (time: string) => Date.parse(time) / 1000

const holdsAndTime = (api: Baremetal) => {
  const { placement } = api
  const inSeconds = async (count: number) =>
    `${new Date((await api.now()) + count * 1000).toISOString().slice(0, 19)}+00:00`
  const find = (id: string) => api.get(`/v1/reservations/${id}`, NEWEST)
  const patch = (id: string, value: unknown, op = 'replace') =>
    api.patch(`/v1/reservations/${id}`, [{ op, path: '/expires_at', value }], NEWEST)
  const put = (id: string, expires_at: unknown) => api.put(`/v1/reservations/${id}`, { expires_at }, NEWEST)

  /** A hold that ends on a second's stroke, and the moment after it: only the clock has moved, nothing was cleared away. */
  async function shortHold(nodes: readonly string[]) {
    const expires_at = await inSeconds(MINUTE_S)
    const hold = await api.hold(nodes, { expires_at })
    assert.equal(hold.expires_at, expires_at)
    const ended = () => api.moveTo(Date.parse(expires_at) + 1)
    return { hold, ended }
  }

  void test('a hold lasts ten minutes, or as long as it says', async () => {
    const lasts: [unknown, number][] = [
      [undefined, 10 * MINUTE_S],
      [null, 10 * MINUTE_S],
      [90, 90],
      ['90s', 90],
      ['20m', 20 * MINUTE_S],
      ['2h', 2 * HOUR_S],
      ['PT10M', 10 * MINUTE_S],
      ['1d', 24 * HOUR_S],
    ]
    for (const [expires_at, expected] of lasts) {
      const hold = await api.hold([await api.node({}, 'available')], { expires_at })
      const found = seconds(hold.expires_at) - seconds(hold.created_at)
      // Both are told in whole seconds.
      assert.ok(Math.abs(found - expected) <= 1, `${JSON.stringify(expires_at)} is ${found} s`)
    }
    const instant = await inSeconds(HOUR_S)
    for (const expires_at of [instant, instant.replace('+00:00', 'Z')]) {
      assert.equal((await api.hold([await api.node({}, 'available')], { expires_at })).expires_at, instant)
    }
  })

  void test('beyond the longest allowed is 400', async () => {
    const node = await api.node({}, 'available')
    for (const expires_at of ['25h', '2d', 90_000, await inSeconds(25 * HOUR_S), 1e300]) {
      const body = { instance_uuid: uuid(), node_uuid: [node], expires_at }
      expectFault(await api.post('/v1/reservations', body, NEWEST), 400)
    }
    const { uuid: id, expires_at } = await api.hold([node])
    for (const value of ['25h', 'soon', -1, {}, [], '2020-01-01T00:00:00Z']) {
      expectFault(await patch(id, value), 400)
      expectFault(await put(id, value), 400)
    }
    assert.equal((await find(id)).body.reservation.expires_at, expires_at)
  })

  void test('PATCH and PUT renew it, both ways', async () => {
    const { uuid: id, created_at, ...rest } = await api.hold([await api.node({}, 'available')])
    for (const [renew, op] of [
      [patch, 'replace'],
      [patch, 'add'],
      [put, undefined],
    ] as const) {
      for (const [value, least, most] of [
        ['2h', 2 * HOUR_S - 1, 3 * HOUR_S],
        [30, 29, 120],
      ] as const) {
        const { body } = expectStatus(await renew(id, value, op), 200)
        const lasts = seconds(body.reservation.expires_at) - seconds(created_at)
        assert.ok(lasts >= least && lasts <= most, `${lasts} s`)
        assert.deepEqual(body, (await find(id)).body)
        assert.equal(body.reservation.node_uuid, rest.node_uuid)
      }
    }
    const wrong: unknown[] = [{}, 'x', [{ op: 'replace', path: '/node_uuid', value: uuid() }], [{ op: 'move' }]]
    for (const body of wrong) expectFault(await api.patch(`/v1/reservations/${id}`, body, NEWEST), 400)
    for (const body of [{ expires_at: '1h', owner: 'x' }, [], 'x']) {
      expectFault(await api.put(`/v1/reservations/${id}`, body, NEWEST), 400)
    }
    expectFault(await patch(uuid(), '1h'), 404)
    expectFault(await put(uuid(), '1h'), 404)
  })

  void test('a lapsed hold is gone for every reader at that instant', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'available')
    const { hold, ended } = await shortHold([node])
    expectStatus(await find(hold.uuid), 200)
    await ended()
    const [one, list, ofNode, shown, reserved, eligible] = await Promise.all([
      find(hold.uuid),
      api.get('/v1/reservations', NEWEST),
      api.get(`/v1/reservations?node=${node}`, NEWEST),
      api.get(`/v1/nodes/${node}`, NEWEST),
      api.get(`/v1/nodes?reserved=true&resource_class=${resource_class}`, NEWEST),
      api.get(`/v1/nodes?provision_state=available&associated=false&resource_class=${resource_class}`, NEWEST),
    ])
    expectFault(one, 404)
    assert.ok(!JSON.stringify(list.body).includes(hold.uuid))
    assert.deepEqual(ofNode.body.reservations, [])
    assert.equal(shown.body.reservation_uuid, null)
    assert.deepEqual(reserved.body.nodes, [])
    assert.equal(eligible.body.nodes.length, 1)
    for (const answer of [await patch(hold.uuid, '1h'), await put(hold.uuid, '1h')]) expectFault(answer, 404)
    expectFault(await api.del(`/v1/reservations/${hold.uuid}`, NEWEST), 404)
    await waitFor('its claim is gone', async () => Object.keys(await placement.claims(hold.uuid)).length === 0)
    assert.deepEqual(await placement.usages(node), { [classInPlacement(resource_class)]: 0 })
  })

  void test('whoever wants the node of a lapsed hold has it at once', async () => {
    const resource_class = newClass()
    const nodes = await api.nodes(8, { resource_class })
    const [held = '', patched = '', allocated = '', deployed = ''] = nodes
    const [managed = '', claimed = '', deleted = '', changed = ''] = nodes.slice(4)
    const holds = await Promise.all(nodes.map(node => shortHold([node])))
    for (const { ended } of holds) await ended()
    const amounts = { [classInPlacement(resource_class)]: 1 }
    const answers = await Promise.all([
      api.hold([held]),
      api.change(patched, 'instance_uuid', uuid()).then(answer => expectStatus(answer, 200)),
      api.allocated({ resource_class, candidate_nodes: [allocated] }),
      api.provision(deployed, 'active').then(answer => expectStatus(answer, 202)),
      api.provision(managed, 'manage').then(answer => expectStatus(answer, 202)),
      placement.claim(uuid(), { [claimed]: amounts }).then(answer => expectStatus(answer, 204)),
      api.del(`/v1/nodes/${deleted}`).then(answer => expectStatus(answer, 204)),
      api.change(changed, 'resource_class', newClass()).then(answer => expectStatus(answer, 200)),
    ])
    assert.equal(answers[0].node_uuid, held)
    await api.until(deployed, 'active')
    await api.until(managed, 'manageable')
    assert.equal((await api.show(deployed)).instance_uuid, null)
  })

  void test('a lapsed hold deploys nothing', async () => {
    const node = await api.node({}, 'available')
    const { hold, ended } = await shortHold([node])
    await ended()
    expectFault(await api.provision(node, 'active', { reservation_uuid: hold.uuid }, NEWEST), 409)
    assert.equal((await api.show(node)).provision_state, 'available')
  })

  void test('a renewed hold outlives its first end', async () => {
    const node = await api.node({}, 'available')
    const { hold, ended } = await shortHold([node])
    expectStatus(await patch(hold.uuid, '1h'), 200)
    await ended()
    const later = await shortHold([await api.node({}, 'available')])
    await later.ended()
    await waitFor(
      'the other’s claim is gone',
      async () => Object.keys(await placement.claims(later.hold.uuid)).length === 0,
    )
    expectStatus(await find(hold.uuid), 200)
    assert.equal((await api.get(`/v1/nodes/${node}`, NEWEST)).body.reservation_uuid, hold.uuid)
  })
}

eachMetal('holds and time', holdsAndTime, { testClock: true })

// In real time, to the end.
eachMetal(
  'holds as the settings say',
  api => {
    void test('last as long as the settings say, and no longer than they allow', async () => {
      const node = await api.node({}, 'available')
      const body = { instance_uuid: uuid(), node_uuid: [node] }
      expectFault(await api.post('/v1/reservations', { ...body, expires_at: 61 }, NEWEST), 400)
      const { uuid: id } = await api.hold([node], { expires_at: '1m' })
      expectStatus(await api.del(`/v1/reservations/${id}`, NEWEST), 204)
      const { created_at, expires_at } = await api.hold([node])
      const lasts = seconds(expires_at) - seconds(created_at)
      assert.ok(Math.abs(lasts - 2) <= 1, `${lasts} s`)
      await waitFor(
        'it has lapsed',
        async () => (await api.get('/v1/reservations', NEWEST)).body.reservations.length === 0,
      )
    })
  },
  { reservationMs: 2_000, reservationMaxMs: 60_000 },
)
