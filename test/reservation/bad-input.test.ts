// Nothing that a client can send ends in a 5xx, and what is refused changes nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../src/api/reservation/routes.ts'
import { eachReservation, expectError, instances, type Shown, wholeHosts } from '../support/reservation.ts'

const HUGE = 2 ** 53
const DEEP = `${'['.repeat(300)}${']'.repeat(300)}`

/** So that a member without a value shows in a test's name. */
const named = (_: string, value: unknown) => (value === undefined ? 'undefined' : value)

/** A new lease is an instance reservation for an hour, but for these members. */
const BAD_LEASES: object[] = [
  { name: undefined },
  { name: null },
  { name: 7 },
  { name: {} },
  { name: 'nul\0' },
  { name: '\ud800' },
  { start_date: undefined },
  { start_date: null },
  { start_date: '' },
  { start_date: 7 },
  { start_date: 'yesterday' },
  { start_date: '2030-02-30 10:00' },
  { start_date: '9999-99-99 99:99' },
  { start_date: '1970-01-01 00:00' },
  { end_date: undefined },
  { end_date: [] },
  { end_date: '2030-01-01T10:00:00+99' },
  { end_date: 'now' },
  { before_end_date: 7 },
  { before_end_date: 'soon' },
  { before_end_date: '1970-01-01 00:00' },
  { reservations: undefined },
  { reservations: null },
  { reservations: {} },
  { reservations: 'x' },
  { reservations: [] },
  { reservations: [null] },
  { reservations: [7] },
  { reservations: [[]] },
  { reservations: [{}] },
  { reservations: Array(101).fill(instances()) },
]

/** An instance reservation, but for these members. */
const BAD_INSTANCES: object[] = [
  { resource_type: undefined },
  { resource_type: null },
  { resource_type: 7 },
  { resource_type: 'virtual:floatingip' },
  { resource_type: 'flavor:instance' },
  { resource_type: 'network' },
  { resource_type: '__proto__' },
  ...['vcpus', 'memory_mb', 'disk_gb', 'amount'].flatMap(name =>
    [
      undefined,
      null,
      -1,
      1.5,
      '',
      'x',
      '1.5',
      '-1',
      ' ',
      '1e3',
      '0x10',
      true,
      [],
      {},
      HUGE,
      '99999999999999999999',
    ].map(value => ({ [name]: value })),
  ),
  { vcpus: 0 },
  { memory_mb: 0 },
  { amount: 0 },
  { amount: 10_001 },
  { amount: '0' },
  { affinity: 'x' },
  { affinity: 2 },
  { resource_properties: {} },
  { resource_properties: 7 },
  { resource_properties: 'x' },
  { resource_properties: '["=", "$vcpus"' },
]

const BODIES = [
  '',
  '{',
  'null',
  '7',
  '"x"',
  '[]',
  '{}',
  '{"":null}',
  '{"__proto__":"x"}',
  '{"constructor":"x"}',
  '{"name":{}}',
  '{"name":"\\ud800"}',
  '{"name":"a\\u0000b"}',
  '{"id":[]}',
  '{"id":-1}',
  '{"id":99999999999999999999999}',
  '{"name":"x","gpu":{"a":1}}',
  '{"private":[]}',
  '{"start_date":{}}',
  '{"end_date":[]}',
  '{"reservations":{"id":"x"}}',
  '{"reservations":[{"id":{}}]}',
  '{"reservations":[{"id":"x","amount":"x"}]}',
  `{"name":${DEEP}}`,
  `{"events":${DEEP}}`,
  `{"name":"${'x'.repeat(100_000)}"}`,
]

const IDENTS = ['%20', '..', 'x', "'", '%F0%9F%98%80', '%2F', 'a'.repeat(300), '__proto__', '-1', '1e3', HUGE, '0x1']
const QUERIES = ['lease_id=', 'lease_id=%F0%9F', 'reservation_id[]=1', 'detail=', 'all=x', '%', '&&&', 'limit=-1']

eachReservation('bad input', api => {
  const state = async () => ({
    leases: (await api.get('/leases')).body,
    hosts: (await api.get('/os-hosts')).body,
    allocations: (await api.get('/os-hosts/allocations')).body,
    properties: (await api.get('/os-hosts/properties?detail=True&all=True')).body,
    classes: await api.classes(),
    flavors: (await api.compute.get('/flavors?is_public=None', { version: null })).body,
  })
  const unchanged = async (work: () => Promise<void>) => {
    const before = await state()
    await work()
    assert.deepEqual(await state(), before)
  }
  let host: Shown
  let lease: Shown

  void test('something to damage', async () => {
    host = await api.host('precious', {}, { gpu: 'yes' })
    lease = await api.lease([instances(), instances({ vcpus: 2 })])
  })

  for (const wrong of BAD_LEASES) {
    void test(`a new lease with ${JSON.stringify(wrong, named).slice(0, 60)} is 400`, async () => {
      await unchanged(async () => void expectError(await api.tryLease([instances()], { ...wrong }), 400))
    })
  }

  void test('a new lease with any wrong member of a reservation is 400', async () => {
    await unchanged(async () => {
      for (const wrong of BAD_INSTANCES) {
        const answer = await api.tryLease([instances(), instances(wrong)])
        assert.equal(answer.status, 400, `${JSON.stringify(wrong, named)}: ${JSON.stringify(answer.body)}`)
      }
    })
  })

  void test('a change with any wrong member of a reservation is 400', async () => {
    const { id } = lease.reservations[0]
    await unchanged(async () => {
      for (const wrong of BAD_INSTANCES) {
        if (Object.values(wrong)[0] === undefined || 'resource_type' in wrong) continue
        const answer = await api.put(`/leases/${lease.id}`, { reservations: [{ id, ...wrong }] })
        assert.equal(answer.status, 400, `${JSON.stringify(wrong, named)}: ${JSON.stringify(answer.body)}`)
      }
    })
  })

  void test('members of another type of reservation are ignored', async () => {
    const odd = await api.lease([instances({ min: 'x', max: 0, before_end: 7 }), instances({ traits: 7 })])
    await api.end(odd.id)
    const answer = await api.tryLease([wholeHosts({ min: 99, max: 99, vcpus: 'x', affinity: 'x' })])
    expectError(answer, 409)
  })

  void test('every method on every path with every body and ident is answered with less than 500', async () => {
    let before = await state()
    for (const { method, path } of targets()) {
      for (const body of method === 'GET' || method === 'DELETE' ? [undefined] : BODIES) {
        const answer = await api.request(method, path, body)
        assert.ok(answer.status < 500, `${method} ${path} ${body}: ${JSON.stringify(answer.body)}`)
        // A few are a change that can be made.
        if (method !== 'GET' && answer.status < 300) before = await state()
      }
    }
    assert.deepEqual(await state(), before)
  })

  const targets = () =>
    Object.entries(routes).flatMap(([path, methods]) =>
      Object.keys(methods).flatMap(method => {
        if (!path.includes(':')) return [{ method, path }]
        const idents = [...IDENTS.map(String), ...real(path, method)]
        return idents.map(ident => ({ method, path: path.replace(/:\w+/, ident) }))
      }),
    )

  /** What is there, where a bad body can't do harm. */
  const real = (path: string, method: string): string[] => {
    if (method === 'DELETE') return []
    return [path.startsWith('/leases') ? lease.id : path.includes('properties') ? 'gpu' : host.id]
  }

  void test('every query on every list is answered with less than 500', async () => {
    for (const path of ['/leases', '/os-hosts', '/os-hosts/allocations', '/os-hosts/properties']) {
      for (const query of QUERIES) {
        const answer = await api.get(`${path}?${query}`)
        assert.ok(answer.status < 500, `${path}?${query}: ${JSON.stringify(answer.body)}`)
      }
    }
  })

  void test('a body that is too large is 413', async () => {
    const answer = await api.post('/leases', JSON.stringify({ name: 'x'.repeat(5 * 1024 * 1024) }))
    assert.equal(answer.status, 413)
  })
})
