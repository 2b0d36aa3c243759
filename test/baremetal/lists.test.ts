// Lists of nodes: filters, fields, pages and order.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eachMetal, expectFault, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

eachMetal('lists of nodes', api => {
  const nodes: string[] = []
  const instance = uuid()
  let chassis = ''

  before(async () => {
    chassis = (await api.post('/v1/chassis', {})).body.uuid
    nodes.push(
      await api.node({ name: 'a', resource_class: 'small', owner: 'o1', description: 'a 100% Box', shard: 's1' }),
      await api.node({ name: 'b', resource_class: 'small', lessee: 'o1', chassis_uuid: chassis }, 'available'),
      await api.node({ name: 'c', resource_class: 'large', instance_uuid: instance, shard: 's2' }, 'available'),
      await api.node({ name: 'd', maintenance: true, retired: true }),
      await api.node({ name: 'e' }, 'manageable'),
    )
  })

  const names = async (query: string) => {
    const { body } = expectStatus(await api.get(`/v1/nodes?fields=name&${query}`), 200)
    return body.nodes.map((node: { name: string }) => node.name).join('')
  }

  void test('short rows, detailed rows, chosen fields', async () => {
    const { body } = await api.get('/v1/nodes')
    assert.deepEqual(Object.keys(body), ['nodes'])
    const short = ['instance_uuid', 'links', 'maintenance', 'name', 'power_state', 'provision_state', 'uuid']
    assert.deepEqual(Object.keys(body.nodes[0]).sort(), short)
    const [detail, param] = [await api.get('/v1/nodes/detail'), await api.get('/v1/nodes?detail=True')]
    assert.equal(Object.keys(detail.body.nodes[0]).length, 63)
    assert.deepEqual(detail.body, param.body)
    const some = await api.get('/v1/nodes?fields=uuid,traits')
    assert.deepEqual(Object.keys(some.body.nodes[0]).sort(), ['links', 'traits', 'uuid'])
    for (const query of ['fields=uuid&detail=True', 'fields=nonsense', 'fields=', 'nonsense=1', 'detail=perhaps']) {
      expectFault(await api.get(`/v1/nodes?${query}`), 400)
    }
    expectStatus(await api.get('/v1/nodes?fields=allocation_uuid'), 200)
    expectFault(await api.get('/v1/nodes/detail?fields=uuid'), 400)
    expectFault(await api.get('/v1/nodes/detail?detail=True'), 400)
  })

  void test('each filter', async () => {
    const cases: Record<string, string> = {
      [`instance_uuid=${instance}`]: 'c',
      'associated=True': 'c',
      'associated=no': 'abde',
      'maintenance=1': 'd',
      'maintenance=False': 'abce',
      'retired=on': 'd',
      'provision_state=available': 'bc',
      'provision_state=enroll&maintenance=f': 'a',
      'driver=fake-hardware': 'abcde',
      'driver=other': '',
      'resource_class=small': 'ab',
      'owner=o1': 'a',
      'lessee=o1': 'b',
      'project=o1': 'ab',
      'conductor_group=': 'abcde',
      'conductor_group=x': '',
      'conductor=nobody': '',
      'description_contains=100%25': 'a',
      'description_contains=BOX': 'a',
      'description_contains=x%25x': '',
      'shard=s1': 'a',
      'shard=s1,s2': 'ac',
      'sharded=true': 'ac',
      'sharded=false': 'bde',
      'fault=clean%20failure': '',
      [`chassis_uuid=${chassis}`]: 'b',
      'resource_class=small&provision_state=available&associated=false': 'b',
    }
    for (const [query, expected] of Object.entries(cases)) assert.equal(await names(query), expected, query)
    const host = (await api.show(nodes[0]!)).conductor
    assert.equal(await names(`conductor=${host}`), 'abcde')
  })

  void test('malformed values are 400', async () => {
    const wrong = [
      'associated=perhaps',
      'maintenance=2',
      'provision_state=nonsense',
      'fault=nonsense',
      'instance_uuid=x',
    ]
    for (const query of [...wrong, 'chassis_uuid=x', 'sort_key=nonsense', 'sort_dir=up', 'limit=0', 'limit=-1']) {
      expectFault(await api.get(`/v1/nodes?${query}`), 400)
    }
    for (const query of ['limit=x', 'limit=1.5', 'marker=x', 'limit=99999999999999', 'owner=%00']) {
      expectFault(await api.get(`/v1/nodes?${query}`), 400)
    }
    expectFault(await api.get(`/v1/nodes?marker=${uuid()}`), 404)
    const jsons = ['extra', 'properties', 'driver_info', 'instance_info', 'traits', 'network_data', 'clean_step']
    for (const key of jsons) expectFault(await api.get(`/v1/nodes?sort_key=${key}`), 400)
  })

  void test('order: by creation, by any plain field, both ways, nulls first', async () => {
    assert.equal(await names(''), 'abcde')
    assert.equal(await names('sort_dir=desc'), 'edcba')
    assert.equal(await names('sort_key=name&sort_dir=desc'), 'edcba')
    assert.equal(await names('sort_key=resource_class'), 'decab')
    assert.equal(await names('sort_key=resource_class&sort_dir=desc'), 'baced')
    assert.equal(await names('sort_key=maintenance&sort_dir=desc'), 'decba')
    assert.equal((await names('sort_key=provision_updated_at')).length, 5)
  })

  void test('pages of every order and size give each node once, with filters kept', async () => {
    for (const query of [
      '',
      'sort_key=resource_class',
      'sort_key=resource_class&sort_dir=desc',
      'sort_key=maintenance',
    ]) {
      for (const [filter, all] of [
        ['', await names(query)],
        ['maintenance=false&', await names(`maintenance=false&${query}`)],
      ] as const) {
        for (const limit of [1, 2, 3]) {
          let url = `/v1/nodes?fields=name,uuid&${filter}${query}&limit=${limit}`
          let found = ''
          for (let page = 0; page < 10; page++) {
            const { body } = expectStatus(await api.get(url), 200)
            found += body.nodes.map((node: { name: string }) => node.name).join('')
            if (!body.next) break
            assert.equal(body.nodes.length, limit)
            assert.deepEqual(body.nodes_links, [{ href: body.next, rel: 'next' }])
            url = body.next.slice(`${api.origin}/baremetal`.length)
          }
          assert.equal(found, all, `${url} by ${limit}`)
        }
      }
    }
  })

  void test('a limit above the most is cut, and the last page has no next', async () => {
    const { body } = await api.get('/v1/nodes?limit=5000')
    assert.equal(body.next, undefined)
    assert.equal((await api.get('/v1/nodes?limit=5')).body.next, undefined)
  })

  void test('nodes of a chassis', async () => {
    const { body } = expectStatus(await api.get(`/v1/chassis/${chassis}/nodes`), 200)
    assert.deepEqual(
      body.nodes.map((node: { uuid: string }) => node.uuid),
      [nodes[1]],
    )
  })
})
