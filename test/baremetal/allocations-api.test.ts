// The API of allocations: lists, pages, fields, changes, versions, and what is refused.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eachMetal, expectFault, NEWEST, newClass, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const at = (minor: number) => ({ version: `1.${minor}` })

eachMetal('lists of allocations', api => {
  const [small, large] = [newClass(), newClass()]
  const nodes: Record<string, string> = {}

  before(async () => {
    nodes['n1'] = await api.node({ resource_class: small, name: 'n1', owner: 'o1' }, 'available')
    nodes['n2'] = await api.node({ resource_class: small, name: 'n2' }, 'available')
    nodes['n3'] = await api.node({ resource_class: large, name: 'n3' }, 'available')
    await api.allocated({ resource_class: small, name: 'a', owner: 'o1' })
    await api.allocated({ resource_class: small, name: 'b' })
    await api.allocated({ resource_class: large, name: 'c', extra: { x: 1 } })
    await api.refused({ resource_class: large, name: 'd' })
    await api.allocate({ resource_class: large, name: 'e', wait_until: '1h' })
  })

  const names = async (query: string) => {
    const { body } = expectStatus(await api.get(`/v1/allocations?${query}`, NEWEST), 200)
    return body.allocations.map((allocation: { name: string }) => allocation.name).join('')
  }

  void test('rows are whole, in the order of creation', async () => {
    const { body } = expectStatus(await api.get('/v1/allocations', NEWEST), 200)
    assert.deepEqual(Object.keys(body), ['allocations'])
    assert.equal(await names(''), 'abcde')
    assert.deepEqual(body.allocations[2], await api.allocation('c'))
  })

  void test('each filter, alone and together', async () => {
    const cases: Record<string, string> = {
      'state=active': 'abc',
      'state=error': 'd',
      'state=allocating': 'e',
      [`resource_class=${small}`]: 'ab',
      [`resource_class=${newClass()}`]: '',
      'owner=o1': 'a',
      'owner=nobody': '',
      'node=n1': 'a',
      [`node=${nodes['n3']}`]: 'c',
      [`resource_class=${large}&state=active`]: 'c',
      [`node=n2&resource_class=${small}&state=active`]: 'b',
      'node=n2&state=error': '',
      'owner=o1&state=active': 'a',
    }
    for (const [query, expected] of Object.entries(cases)) assert.equal(await names(query), expected, query)
  })

  void test('filters that make no sense are 400', async () => {
    const wrong = ['state=nonsense', 'state=', 'node=nobody', `node=${uuid()}`, 'nonsense=1', 'owner=%00']
    for (const query of [...wrong, `resource_class=${'x'.repeat(81)}`]) {
      expectFault(await api.get(`/v1/allocations?${query}`), 400)
    }
  })

  void test('chosen fields, in lists and of one', async () => {
    const { body } = await api.get('/v1/allocations?fields=uuid,state', NEWEST)
    assert.deepEqual(Object.keys(body.allocations[0]).sort(), ['links', 'state', 'uuid'])
    const one = await api.get('/v1/allocations/c?fields=extra', NEWEST)
    assert.deepEqual(Object.keys(one.body).sort(), ['extra', 'links'])
    const ofNode = await api.get('/v1/nodes/n3/allocation?fields=name', NEWEST)
    assert.equal(ofNode.body.name, 'c')
    for (const path of ['/v1/allocations', '/v1/allocations/a', '/v1/nodes/n1/allocation']) {
      for (const fields of ['nonsense', 'uuid,nonsense', '__proto__', '', 'conductor_affinity']) {
        expectFault(await api.get(`${path}?fields=${fields}`), 400)
      }
    }
  })

  void test('pages of every size and order give each once, with filters kept', async () => {
    for (const query of ['', 'sort_key=name&sort_dir=desc', 'sort_key=state', `resource_class=${large}`]) {
      const all = await names(query)
      for (const limit of [1, 2, 3]) {
        let url = `/v1/allocations?${query}&limit=${limit}`
        let found = ''
        for (let page = 0; page < 10; page++) {
          const { body } = expectStatus(await api.get(url, NEWEST), 200)
          found += body.allocations.map((allocation: { name: string }) => allocation.name).join('')
          if (!body.next) break
          assert.equal(body.allocations.length, limit)
          url = body.next.slice(`${api.origin}/baremetal`.length)
        }
        assert.equal(found, all, `${query} by ${limit}`)
      }
    }
    assert.equal(await names('sort_dir=desc'), 'edcba')
    for (const query of ['limit=-1', 'limit=x', 'marker=x', 'sort_key=nonsense', 'sort_key=extra', 'sort_dir=up']) {
      expectFault(await api.get(`/v1/allocations?${query}`), 400)
    }
    expectFault(await api.get(`/v1/allocations?marker=${uuid()}`), 404)
  })

  void test('one is found by uuid or name; another is 404', async () => {
    const allocation = await api.allocation('a')
    assert.deepEqual(await api.allocation(allocation.uuid), allocation)
    for (const ident of [uuid(), 'nobody']) {
      expectFault(await api.get(`/v1/allocations/${ident}`), 404, new RegExp(ident))
      expectFault(await api.patch(`/v1/allocations/${ident}`, []), 404)
      expectFault(await api.del(`/v1/allocations/${ident}`), 404)
    }
    assert.match((await api.get('/v1', at(52))).body.allocations[0].href, /\/v1\/allocations\/$/)
  })
})

eachMetal('the API of allocations', api => {
  void test('a request that makes no sense is 400 and leaves nothing behind', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'available')
    const bodies: unknown[] = [
      {},
      { resource_class: null },
      { resource_class: '' },
      { resource_class: 7 },
      { resource_class: 'x'.repeat(81) },
      { resource_class: 'a\0b' },
      { resource_class, traits: 'CUSTOM_A' },
      { resource_class, traits: ['not a trait'] },
      { resource_class, traits: ['CUSTOM_lower'] },
      { resource_class, traits: [7] },
      { resource_class, traits: [`CUSTOM_${'A'.repeat(260)}`] },
      { resource_class, traits: { CUSTOM_A: 'required' } },
      { resource_class, candidate_nodes: node },
      { resource_class, candidate_nodes: [uuid()] },
      { resource_class, candidate_nodes: [node, 'nobody'] },
      { resource_class, candidate_nodes: [null] },
      { resource_class, candidate_nodes: [node, 7] },
      { resource_class, name: 'not a name' },
      { resource_class, name: '' },
      { resource_class, name: 'x'.repeat(256) },
      { resource_class, name: {} },
      { resource_class, uuid: 'x' },
      { resource_class, uuid: 7 },
      { resource_class, extra: 'x' },
      { resource_class, extra: [] },
      { resource_class, owner: 7 },
      { resource_class, state: 'active' },
      { resource_class, node_uuid: node },
      { resource_class, nonsense: 1 },
      [],
      'x',
      null,
      '{"resource_class": ',
    ]
    for (const body of bodies) expectFault(await api.post('/v1/allocations', body), 400)
    assert.deepEqual((await api.get(`/v1/allocations?resource_class=${resource_class}`)).body.allocations, [])
    assert.equal((await api.show(node)).instance_uuid, null)
  })

  void test('a name, a uuid or an instance that is in use is 409', async () => {
    const resource_class = newClass()
    const name = `a-${uuid()}`
    const first = await api.allocate({ resource_class, name })
    expectFault(await api.post('/v1/allocations', { resource_class, name }), 409, new RegExp(name))
    expectFault(await api.post('/v1/allocations', { resource_class, uuid: first.uuid }), 409, new RegExp(first.uuid))
    const instance = uuid()
    await api.node({ instance_uuid: instance })
    expectFault(await api.post('/v1/allocations', { resource_class, uuid: instance }), 409)
    assert.equal((await api.get(`/v1/allocations?resource_class=${resource_class}`)).body.allocations.length, 1)
  })

  void test('PATCH changes name and extra, and nothing else', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'available')
    const { uuid: id } = await api.allocated({ resource_class, extra: { a: 1, b: 2 } })
    const name = `a-${uuid()}`
    const changed = await api.patch(`/v1/allocations/${id}`, [
      { op: 'add', path: '/name', value: name },
      { op: 'replace', path: '/extra/a', value: [1] },
      { op: 'remove', path: '/extra/b' },
    ])
    expectStatus(changed, 200)
    assert.deepEqual([changed.body.name, changed.body.extra], [name, { a: [1] }])
    assert.equal((await api.allocation(name)).uuid, id)
    expectStatus(await api.patch(`/v1/allocations/${name}`, [{ op: 'remove', path: '/name' }]), 200)
    assert.equal((await api.allocation(id)).name, null)
    expectFault(await api.get(`/v1/allocations/${name}`), 404)
    const before = await api.allocation(id)
    const refused: [string, unknown][] = [
      ['/resource_class', 'x'],
      ['/state', 'error'],
      ['/node_uuid', node],
      ['/uuid', uuid()],
      ['/traits', []],
      ['/candidate_nodes', []],
      ['/owner', 'x'],
      ['/last_error', 'x'],
      ['/nonsense', 1],
      ['/name', 'not a name'],
      ['/name', 7],
      ['/extra', 'x'],
    ]
    for (const [path, value] of refused) {
      const patch = [
        { op: 'add', path: '/extra/z', value: 1 },
        { op: 'replace', path, value },
      ]
      expectFault(await api.patch(`/v1/allocations/${id}`, patch), 400)
    }
    for (const patch of [
      {},
      'x',
      [{}],
      [{ op: 'test', path: '/name', value: null }],
      [{ op: 'remove', path: '/extra/z' }],
    ]) {
      expectFault(await api.patch(`/v1/allocations/${id}`, patch), 400)
    }
    assert.deepEqual(await api.allocation(id), before)
    const taken = `a-${uuid()}`
    await api.allocate({ resource_class, name: taken })
    expectFault(await api.patch(`/v1/allocations/${id}`, [{ op: 'add', path: '/name', value: taken }]), 409)
  })

  void test('what a version does not have is not there, or is refused', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'available')
    const { uuid: id } = await api.allocated({ resource_class })
    for (const path of ['/v1/allocations', `/v1/allocations/${id}`, `/v1/nodes/${node}/allocation`]) {
      expectStatus(await api.get(path, at(51)), 404)
      expectStatus(await api.get(path, at(52)), 200)
    }
    expectStatus(await api.post('/v1/allocations', { resource_class }, at(51)), 404, 405)
    expectStatus(await api.del(`/v1/allocations/${id}`, at(51)), 404, 405)
    expectStatus(await api.del(`/v1/nodes/${node}/allocation`, at(51)), 404, 405)
    expectStatus(await api.patch(`/v1/allocations/${id}`, [], at(56)), 404, 405)
    expectStatus(await api.patch(`/v1/allocations/${id}`, [], at(57)), 200)
    // As the real server, which looks at members before it looks at versions.
    expectFault(await api.post('/v1/allocations', { node }, at(57)), 400, /1\.58/)
    expectFault(await api.post('/v1/allocations', { resource_class, owner: 'x' }, at(59)), 406, /1\.60/)
    expectFault(await api.get('/v1/allocations?owner=x', at(59)), 406, /1\.60/)
    expectFault(await api.get('/v1/allocations?fields=owner', at(59)), 406, /1\.60/)
    assert.ok(!('owner' in (await api.allocation(id, at(59)))))
    assert.ok('owner' in (await api.allocation(id, at(60))))
    for (const member of ['expires_at', 'wait_until']) {
      expectFault(await api.post('/v1/allocations', { resource_class, [member]: '1h' }, at(82)), 406, /1\.83/)
    }
    const patch = [{ op: 'add', path: '/expires_at', value: '1h' }]
    expectStatus(await api.patch(`/v1/allocations/${id}`, patch, at(82)), 400, 406)
    assert.ok(!('expires_at' in (await api.allocation(id, at(82)))))
    assert.equal((await api.allocation(id, NEWEST)).expires_at, null)
    assert.equal((await api.get(`/v1/allocations?resource_class=${resource_class}`)).body.allocations.length, 1)
  })

  void test('the node tells its allocation in detail and by fields from 1.52, in short rows from 1.83', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'available')
    const { uuid: id } = await api.allocated({ resource_class })
    const row = async (query: string, minor: number) =>
      (await api.get(`/v1/nodes${query}resource_class=${resource_class}`, at(minor))).body.nodes[0]
    assert.equal((await api.get(`/v1/nodes/${node}`, at(52))).body.allocation_uuid, id)
    assert.equal((await row('/detail?', 52)).allocation_uuid, id)
    assert.equal((await row('?fields=allocation_uuid&', 52)).allocation_uuid, id)
    assert.equal((await row('?', 83)).allocation_uuid, id)
    assert.ok(!('allocation_uuid' in (await row('?', 82))))
    assert.ok(!('allocation_uuid' in (await row('/detail?', 51))))
    expectFault(await api.get('/v1/nodes?fields=allocation_uuid', at(51)), 406, /1\.52/)
  })

  void test('without a role nothing is allocated, and nothing read', async () => {
    const resource_class = newClass()
    expectFault(await api.post('/v1/allocations', { resource_class }, { token: 'someone' }), 403)
    expectFault(await api.get('/v1/allocations', { token: 'someone' }), 403)
    expectFault(await api.get('/v1/allocations', { token: null }), 401)
  })
})
