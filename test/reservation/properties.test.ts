// resource_properties: a small language to choose hosts with, and the list of what can be asked for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { as, eachReservation, expectError, instances, type Shown } from '../support/reservation.ts'

eachReservation('properties of hosts', api => {
  const chosen = async (query: unknown): Promise<string[]> => {
    const resource_properties = typeof query === 'string' ? query : JSON.stringify(query)
    const answer = await api.tryLease([instances({ amount: 1, affinity: true, resource_properties })])
    expectStatus(answer, 201, 409)
    if (answer.status === 409) return []
    const { lease } = answer.body
    const id = lease.reservations[0].id
    const names = Object.entries(await api.slots()).filter(([, on]) => on[id])
    await api.end(lease.id)
    return names.map(([name]) => name)
  }

  void test('three hosts, for the questions that follow', async () => {
    await api.host('small', { vcpus: 4, memory_mb: 8192, disk_gb: 50 }, { gpu: 'no', rack: '9', tier: 'bronze' })
    await api.host('middle', { vcpus: 8, memory_mb: 16_384, disk_gb: 100 }, { gpu: 'yes', rack: '10' })
    await api.host('large', { vcpus: 16, memory_mb: 32_768, disk_gb: 500 }, { gpu: 'yes', rack: '11', tier: 'gold' })
  })

  for (const [query, expected] of [
    // Numbers of the compute node are compared as numbers.
    [['=', '$vcpus', '8'], 'middle'],
    [['==', '$vcpus', '8'], 'middle'],
    [['>', '$vcpus', '9'], 'large'],
    [['>=', '$memory_mb', '32768'], 'large'],
    [['<', '$vcpus', '8'], 'small'],
    [['<=', '$local_gb', '50'], 'small'],
    [['=', '$hypervisor_hostname', 'large'], 'large'],
    [['>', '$vcpus', '16'], null],
    // Capabilities are compared as text, and a host without one never matches.
    [['=', '$gpu', 'no'], 'small'],
    [['!=', '$gpu', 'yes'], 'small'],
    [['>', '$rack', '8'], 'small'],
    [['=', '$tier', 'gold'], 'large'],
    [['!=', '$tier', 'gold'], 'small'],
    [['=', '$tier', 'silver'], null],
    [['=', '$no_such_key', 'x'], null],
    [['!=', '$no_such_key', 'x'], null],
    // Terms can be put together, to any depth.
    [['and', ['=', '$gpu', 'yes'], ['<', '$vcpus', '10']], 'middle'],
    [['and', ['=', '$gpu', 'yes'], ['=', '$gpu', 'no']], null],
    [['or', ['=', '$tier', 'gold'], ['=', '$tier', 'platinum']], 'large'],
    [
      ['and', ['or', ['=', '$rack', '10'], ['=', '$rack', '11']], ['and', ['>', '$vcpus', '8'], ['=', '$gpu', 'yes']]],
      'large',
    ],
    [['and', ['=', '$gpu', 'yes'], ['=', '$rack', '10'], ['>', '$vcpus', '4']], 'middle'],
  ] as const) {
    void test(`${JSON.stringify(query)} finds ${expected ?? 'nothing'}`, async () => {
      assert.deepEqual(await chosen(query), expected === null ? [] : [expected])
    })
  }

  for (const anything of ['', '[]']) {
    void test(`${JSON.stringify(anything)} finds anything`, async () => {
      assert.equal((await chosen(anything)).length, 1)
    })
  }

  for (const malformed of [
    'x',
    '{',
    '{}',
    'null',
    '7',
    '"="',
    '["="]',
    '["=", "$vcpus"]',
    '["=", "vcpus", "8"]',
    '["=", "$vcpus", "8", "9"]',
    '["~", "$vcpus", "8"]',
    '[["=", "$vcpus", "8"]]',
    '["and"]',
    '["and", "x"]',
    '["and", ["=", "$vcpus", "8"], ["x"]]',
    '["not", ["=", "$vcpus", "8"]]',
    `${'["and", '.repeat(2_000)}["=", "$vcpus", "8"]${']'.repeat(2_000)}`,
  ]) {
    void test(`${malformed.slice(0, 60)} is malformed`, async () => {
      expectError(await api.tryLease([instances({ resource_properties: malformed })]), 400)
    })
  }

  void test('a query is text, and not too much of it', async () => {
    expectError(await api.tryLease([instances({ resource_properties: ['=', '$gpu', 'yes'] })]), 400)
    expectError(await api.tryLease([instances({ resource_properties: `["=", "$a", "${'x'.repeat(99_999)}"]` })]), 400)
  })

  const listed = async (query = '') =>
    expectStatus(await api.get(`/os-hosts/properties${query}`), 200).body.resource_properties as Shown[]
  const byName = (a: Shown, b: Shown) => (a.property < b.property ? -1 : 1)

  void test('the capabilities are listed, in detail with their values', async () => {
    assert.deepEqual((await listed()).toSorted(byName), [
      { property: 'gpu' },
      { property: 'rack' },
      { property: 'tier' },
    ])
    const detailed = (await listed('?detail=True')).toSorted(byName)
    assert.deepEqual(
      detailed.map(each => ({ ...each, values: each.values.toSorted() })),
      [
        { property: 'gpu', private: false, values: ['no', 'yes'] },
        { property: 'rack', private: false, values: ['10', '11', '9'] },
        { property: 'tier', private: false, values: ['bronze', 'gold'] },
      ],
    )
    assert.deepEqual(await listed('?detail=False'), await listed())
    expectError(await api.get('/os-hosts/properties?detail=perhaps'), 400, /detail/)
  })

  void test('a private one is listed only with all', async () => {
    const { resource_property } = expectStatus(
      await api.patch('/os-hosts/properties/rack', { private: true }),
      200,
    ).body
    const { id, created_at, updated_at } = resource_property
    assert.deepEqual(resource_property, {
      id,
      resource_type: 'physical:host',
      property_name: 'rack',
      private: true,
      created_at,
      updated_at,
    })
    assert.deepEqual((await listed()).map(each => String(each.property)).toSorted(), ['gpu', 'tier'])
    const all = await listed('?detail=True&all=True')
    assert.equal(all.find(each => each.property === 'rack').private, true)
    assert.deepEqual(await chosen(['=', '$rack', '10']), ['middle'])
    expectStatus(await api.patch('/os-hosts/properties/rack', { private: 'False' }), 200)
    assert.equal((await listed()).length, 3)
    expectError(await api.patch('/os-hosts/properties/rack', {}), 400, /private/)
    expectError(await api.patch('/os-hosts/properties/rack', { private: 'x' }), 400, /private/)
    expectError(await api.patch('/os-hosts/properties/nothing', { private: true }), 404, /nothing/)
    expectError(await api.patch('/os-hosts/properties/rack', { private: true }, as('alice', 'p1')), 403)
  })
})
