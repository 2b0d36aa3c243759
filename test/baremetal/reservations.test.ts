// Reservations: a node held for an instance before it is deployed. Who gets which, how they are listed, what is refused.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type Baremetal, classInPlacement, eachMetal, expectFault, fault } from '../support/baremetal.ts'
import { NEWEST, newClass, uuid } from '../support/baremetal.ts'
import type { Options } from '../support/client.ts'
import { expectStatus, isFull } from '../support/placement.ts'

const FIELDS = [
  'created_at',
  'expires_at',
  'instance_uuid',
  'links',
  'node_name',
  'node_uuid',
  'owner',
  'owner_name',
  'updated_at',
  'uuid',
]
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/

const reserve = (api: Baremetal, nodes: unknown, more: object = {}, options: Options = NEWEST) =>
  api.post('/v1/reservations', { instance_uuid: uuid(), node_uuid: nodes, ...more }, options)

eachMetal('reservations', api => {
  const { placement } = api
  const find = (path: string) => api.get(`/v1/reservations${path}`, NEWEST)
  const release = (id: string) => api.del(`/v1/reservations/${id}`, NEWEST)

  void test('one node of the list is held for the instance', async () => {
    const instance = uuid()
    const [one, two] = [await api.node({}, 'available'), await api.node({}, 'available')]
    const answer = expectStatus(await reserve(api, [one, two], { instance_uuid: instance }), 201)
    assert.deepEqual(Object.keys(answer.body), ['reservation'])
    const { reservation } = answer.body
    assert.deepEqual(Object.keys(reservation).sort(), FIELDS)
    assert.deepEqual([reservation.node_uuid, reservation.instance_uuid], [one, instance])
    assert.match(reservation.created_at, TIME)
    assert.match(reservation.expires_at, TIME)
    const self = `${api.origin}/baremetal/v1/reservations/${reservation.uuid}`
    assert.equal(answer.headers.location, self)
    assert.deepEqual(reservation.links, [
      { href: self, rel: 'self' },
      { href: self.replace('/v1/', '/'), rel: 'bookmark' },
    ])
    assert.deepEqual(expectStatus(await find(`/${reservation.uuid}`), 200).body, { reservation })
    const shown = (await api.get(`/v1/nodes/${one}`, NEWEST)).body
    assert.deepEqual([shown.reservation_uuid, shown.instance_uuid], [reservation.uuid, null])
    assert.equal((await api.get(`/v1/nodes/${two}`, NEWEST)).body.reservation_uuid, null)
  })

  void test('nodes are tried in the order given, by uuid or name', async () => {
    const name = `n-${uuid()}`
    const [one, two] = [await api.node({ name }, 'available'), await api.node({}, 'available')]
    assert.equal((await api.hold([two, name])).node_uuid, two)
    assert.equal((await api.hold([two, name])).node_uuid, one)
  })

  void test('the first that is available, nobody’s and not in maintenance; else 409 with the reason for each', async () => {
    const resource_class = newClass()
    const make = (attributes: object = {}, state: Parameters<Baremetal['node']>[1] = 'available') =>
      api.node({ resource_class, name: `n-${uuid()}`, ...attributes }, state)
    const taken = {
      enrolled: await make({}, 'enroll'),
      manageable: await make({}, 'manageable'),
      active: await make({}, 'active'),
      associated: await make({ instance_uuid: uuid() }),
      maintained: await make(),
      held: await make(),
      claimed: await make(),
      allocated: await make(),
      unknown: uuid() as string,
    }
    expectStatus(await api.put(`/v1/nodes/${taken.maintained}/maintenance`), 202)
    await api.hold([taken.held])
    const amounts = { [classInPlacement(resource_class)]: 1 }
    expectStatus(await placement.claim(uuid(), { [taken.claimed]: amounts }), 204)
    await api.allocated({ resource_class, candidate_nodes: [taken.allocated] })
    const list = Object.values(taken)
    const before = (await find('')).body
    const refused = expectFault(await reserve(api, [...list, 'no-such-node']), 409)
    for (const node of list.slice(0, -1)) {
      assert.ok(fault(refused).includes(node) || fault(refused).includes((await api.show(node)).name), fault(refused))
    }
    for (const node of [taken.unknown, 'no-such-node']) assert.ok(fault(refused).includes(node), fault(refused))
    for (const word of ['maintenance', 'reserved', 'manageable', 'enroll', 'active', 'does not exist']) {
      assert.match(fault(refused), new RegExp(word))
    }
    expectFault(await reserve(api, [uuid(), uuid()]), 409)
    assert.deepEqual((await find('')).body, before)
    const free = await make()
    assert.equal((await api.hold([...list, free])).node_uuid, free)
  })

  void test('an instance that is on another node already gets no hold, for it could never be deployed', async () => {
    const instance_uuid = uuid()
    const theirs = await api.node({ instance_uuid }, 'available')
    const free = await api.node({}, 'available')
    expectFault(await reserve(api, [free], { instance_uuid }), 409, /already associated/)
    assert.equal((await api.get(`/v1/nodes/${free}`, NEWEST)).body.reservation_uuid, null)
    expectStatus(await api.change(theirs, 'instance_uuid', null), 200)
    expectStatus(await reserve(api, [free], { instance_uuid }), 201)
  })

  void test('a uuid that is in use already is named as that of the reservation, not as an instance', async () => {
    const [one, two] = [await api.node({}, 'available'), await api.node({}, 'available')]
    const { uuid: taken } = await api.hold([one])
    expectFault(
      await reserve(api, [two], { instance_uuid: uuid(), uuid: taken }),
      409,
      /UUID .* reservation needs one of its own/,
    )
    assert.equal((await api.get(`/v1/nodes/${two}`, NEWEST)).body.reservation_uuid, null)
  })

  void test('a list of nodes has a limit, and the refusal says which', async () => {
    const many = Array.from({ length: 1_001 }, (_, i) => `n${i}`)
    expectFault(await reserve(api, many, { instance_uuid: uuid() }), 400, /node_uuid: this list is too long/)
    expectFault(await reserve(api, many, { instance_uuid: uuid() }), 400, /a list of 1 to 1000 of them/)
    expectFault(await reserve(api, ['n1'], { instance_uuid: 'x' }), 400, /Expected UUID for instance_uuid/)
  })

  void test('an instance has one node, whichever way it comes by it', async () => {
    const resource_class = newClass()
    const amounts = { [classInPlacement(resource_class)]: 1 }
    const nodes = await api.nodes(3, { resource_class })
    const [one, two, three] = nodes as [string, string, string]
    const instance_uuid = uuid()
    const hold = await api.hold([one], { instance_uuid })
    const ways = async (free: string) => {
      expectFault(await reserve(api, [free], { instance_uuid }), 409, /already associated/)
      expectFault(await api.change(free, 'instance_uuid', instance_uuid), 409, /already associated/)
      expectFault(await api.post('/v1/allocations', { resource_class, uuid: instance_uuid }, NEWEST), 409)
      expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware', instance_uuid }), 409)
      assert.equal((await api.show(free)).instance_uuid, null)
    }
    await ways(two)
    expectStatus(await api.provision(one, 'active', { reservation_uuid: hold.uuid }, NEWEST), 202)
    await api.until(one, 'active')
    await ways(two)
    const outsider = uuid()
    expectStatus(await placement.claim(outsider, { [two]: amounts, [three]: amounts }), 204)
    for (const node of [two, three]) {
      expectFault(await api.change(node, 'instance_uuid', outsider), 409, /already associated/)
    }
    expectStatus(await placement.claim(outsider, { [two]: amounts }, 1), 204)
    expectFault(await reserve(api, [three], { instance_uuid: outsider }), 409, /already associated/)
    expectStatus(await api.change(two, 'instance_uuid', outsider), 200)
  })

  void test('of many who want nodes for one instance at once, by every way, one gets one', async () => {
    const nodes = await api.nodes(8)
    for (let round = 0; round < 5; round++) {
      const instance_uuid = uuid()
      const answers = await Promise.all(
        nodes.map((node, i) =>
          i % 2 === 0 ? reserve(api, [node], { instance_uuid }) : api.change(node, 'instance_uuid', instance_uuid),
        ),
      )
      for (const answer of answers) expectStatus(answer, 200, 201, 409)
      const won = answers.filter(({ status }) => status < 300)
      assert.equal(won.length, 1)
      const { reservation, uuid: node } = won[0]!.body
      if (reservation) expectStatus(await release(reservation.uuid), 204)
      else expectStatus(await api.change(node, 'instance_uuid', null), 200)
    }
  })

  void test('to Placement a hold is a consumer of that type, which only bare metal can release', async () => {
    const resource_class = newClass()
    const amounts = { [classInPlacement(resource_class)]: 1 }
    const node = await api.node({ resource_class }, 'available')
    const { uuid: id } = await api.hold([node])
    assert.deepEqual(await placement.claims(id), { [node]: amounts })
    assert.equal((await placement.get(`/allocations/${id}`)).body.consumer_type, 'RESERVATION')
    assert.ok(isFull(await placement.claim(uuid(), { [node]: amounts })))
    const candidates = await placement.get(`/allocation_candidates?resources=${classInPlacement(resource_class)}:1`)
    assert.deepEqual(candidates.body.allocation_requests, [])
    expectStatus(await placement.del(`/allocations/${id}`), 409)
    expectStatus(await release(id), 204)
    assert.deepEqual(await placement.claims(id), {})
    expectStatus(await placement.claim(uuid(), { [node]: amounts }), 204)
  })

  void test('DELETE makes the node free again; a second one is 404', async () => {
    const node = await api.node({}, 'available')
    const { uuid: id } = await api.hold([node])
    const answer = expectStatus(await release(id), 204)
    assert.equal(answer.body, null)
    expectFault(await release(id), 404, new RegExp(id))
    expectFault(await find(`/${id}`), 404, new RegExp(id))
    assert.equal((await api.get(`/v1/nodes/${node}`, NEWEST)).body.reservation_uuid, null)
    await api.hold([node])
  })

  void test('a request that makes no sense is 400 and holds nothing', async () => {
    const node = await api.node({}, 'available')
    const instance_uuid = uuid()
    const bodies: unknown[] = [
      {},
      { instance_uuid },
      { node_uuid: [node] },
      { instance_uuid, node_uuid: [] },
      { instance_uuid, node_uuid: null },
      { instance_uuid, node_uuid: {} },
      { instance_uuid, node_uuid: [7] },
      { instance_uuid, node_uuid: [node, null] },
      { instance_uuid: 'x', node_uuid: [node] },
      { instance_uuid: 7, node_uuid: [node] },
      { instance_uuid: null, node_uuid: [node] },
      { instance_uuid, node_uuid: [node], owner: 7 },
      { instance_uuid, node_uuid: [node], uuid: 'x' },
      { instance_uuid, node_uuid: [node], nonsense: 1 },
      { instance_uuid, node_uuid: [node], expires_at: 'soon' },
      { instance_uuid, node_uuid: [node], expires_at: {} },
      { instance_uuid, node_uuid: [node], expires_at: -1 },
      { instance_uuid, node_uuid: [node], expires_at: '2020-01-01T00:00:00Z' },
      { reservation: { instance_uuid, node_uuid: [node] } },
      [],
      null,
      'x',
    ]
    for (const body of bodies) {
      const answer = await api.post('/v1/reservations', body, NEWEST)
      assert.equal(answer.status, 400, JSON.stringify(body))
    }
    expectStatus(
      await reserve(
        api,
        Array.from({ length: 50_000 }, () => 'x'),
      ),
      400,
      409,
    )
    assert.equal((await api.get(`/v1/nodes/${node}`, NEWEST)).body.reservation_uuid, null)
    for (const id of ['x', '%00', uuid()]) expectStatus(await find(`/${id}`), 400, 404)
  })

  void test('before 1.83 there are none, and nodes do not tell of them', async () => {
    const node = await api.node({}, 'available')
    const { uuid: id } = await api.hold([node])
    const old = { version: '1.82' }
    for (const path of ['', `/${id}`]) expectStatus(await api.get(`/v1/reservations${path}`, old), 404)
    expectStatus(await reserve(api, [node], {}, old), 404)
    expectStatus(await api.del(`/v1/reservations/${id}`, old), 404)
    expectStatus(await api.patch(`/v1/reservations/${id}`, [], old), 404)
    assert.ok(!('reservations' in (await api.get('/v1', old)).body))
    const { body } = await api.get('/v1', NEWEST)
    assert.match(body.reservations[0].href, /\/v1\/reservations\/$/)
    assert.ok(!('reservation_uuid' in (await api.show(node))))
    expectFault(await api.get('/v1/nodes?reserved=true', old), 406, /1\.83/)
    expectFault(await api.get('/v1/nodes?fields=reservation_uuid', old), 406, /1\.83/)
    expectStatus(await find(`/${id}`), 200)
  })

  void test('without a role nothing is held, and nothing read', async () => {
    const node = await api.node({}, 'available')
    expectFault(await reserve(api, [node], {}, { ...NEWEST, token: 'someone' }), 403)
    expectFault(await api.get('/v1/reservations', { ...NEWEST, token: 'someone' }), 403)
  })
})

eachMetal('lists of reservations', api => {
  const nodes: string[] = []
  const holds: string[] = []
  const instance = uuid()

  before(async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) nodes.push(await api.node({ name, resource_class: 'r' }, 'available'))
    for (const [i, more] of [{ owner: 'o1' }, { owner: 'o2' }, { owner: 'o1', instance_uuid: instance }].entries()) {
      holds.push((await api.hold([nodes[i]!], more)).uuid)
    }
  })

  const listed = async (query: string) => {
    const { body } = expectStatus(await api.get(`/v1/reservations?${query}`, NEWEST), 200)
    return body.reservations.map(({ uuid: id }: { uuid: string }) => holds.indexOf(id)).join('')
  }
  const names = async (query: string, options: Options = NEWEST) => {
    const { body } = expectStatus(await api.get(`/v1/nodes?${query}`, options), 200)
    return body.nodes.map(({ uuid: id }: { uuid: string }) => 'abcde'[nodes.indexOf(id)]).join('')
  }

  void test('whole rows, in the order of creation, and each filter', async () => {
    const { body } = await api.get('/v1/reservations', NEWEST)
    assert.deepEqual(Object.keys(body), ['reservations'])
    assert.deepEqual(
      { reservation: body.reservations[1] },
      (await api.get(`/v1/reservations/${holds[1]}`, NEWEST)).body,
    )
    const cases: Record<string, string> = {
      '': '012',
      'owner=o1': '02',
      'owner=nobody': '',
      'node=b': '1',
      [`node=${nodes[2]}`]: '2',
      'node=e': '',
      [`instance_uuid=${instance}`]: '2',
      [`instance_uuid=${uuid()}`]: '',
      [`owner=o1&instance_uuid=${instance}`]: '2',
      'owner=o2&node=a': '',
    }
    for (const [query, expected] of Object.entries(cases)) assert.equal(await listed(query), expected, query)
    for (const query of ['nonsense=1', 'instance_uuid=x', 'limit=-1', 'limit=x', 'marker=x', 'owner=%00']) {
      expectFault(await api.get(`/v1/reservations?${query}`, NEWEST), 400)
    }
    expectStatus(await api.get(`/v1/reservations?node=${uuid()}`, NEWEST), 400, 404)
    expectFault(await api.get(`/v1/reservations?marker=${uuid()}`, NEWEST), 404)
  })

  void test('pages give each once, with filters kept', async () => {
    for (const [filter, all] of [
      ['', '012'],
      ['owner=o1&', '02'],
    ]) {
      let url = `/v1/reservations?${filter}limit=1`
      let found = ''
      for (let page = 0; page < 10; page++) {
        const { body } = expectStatus(await api.get(url, NEWEST), 200)
        assert.equal(body.reservations.length, 1)
        found += holds.indexOf(body.reservations[0].uuid)
        if (!body.next) break
        url = body.next.slice(`${api.origin}/baremetal`.length)
      }
      assert.equal(found, all)
    }
  })

  void test('nodes can be asked for by whether they are held', async () => {
    assert.equal(await names('reserved=true'), 'abc')
    assert.equal(await names('reserved=False'), 'de')
    assert.equal(await names('reserved=1&resource_class=r'), 'abc')
    expectFault(await api.get('/v1/nodes?reserved=perhaps', NEWEST), 400)
  })

  void test('who asks for eligible nodes is not shown those that are held, at any version', async () => {
    for (const version of ['1.9', '1.37', '1.76', '1.82', '1.83']) {
      for (const flag of ['false', 'False', '0']) {
        assert.equal(await names(`provision_state=available&associated=${flag}`, { version }), 'de', version)
      }
      assert.equal(await names('provision_state=available', { version }), 'abcde')
      assert.equal(await names('associated=false', { version }), 'abcde')
      assert.equal(await names('', { version }), 'abcde')
    }
  })

  void test('rows tell the hold: short, detailed and by fields', async () => {
    for (const path of ['?', '/detail?', '?detail=True&', '?fields=uuid,reservation_uuid&']) {
      const { body } = expectStatus(await api.get(`/v1/nodes${path}sort_key=name`, NEWEST), 200)
      const told = body.nodes.map((node: { reservation_uuid: string | null }) => node.reservation_uuid)
      assert.deepEqual(told, [...holds, null, null], path)
    }
    const { body } = await api.get('/v1/nodes/a?fields=reservation_uuid', NEWEST)
    assert.equal(body.reservation_uuid, holds[0])
    // The host that has the node locked is something else.
    assert.equal((await api.show('a')).reservation, null)
  })
})
