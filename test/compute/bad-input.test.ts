// Nothing that a client can send ends in a 5xx, and what is refused changes nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../src/api/compute/routes.ts'
import { CIRROS, eachCompute, expectFault } from '../support/compute.ts'

const BODIES = [
  '',
  'x',
  'null',
  '1',
  '"x"',
  '[]',
  '{}',
  '[null]',
  '{"":null}',
  '\u0000',
  '{"server":null}',
  '{"server":{"name":{}}}',
  '{"server":{"name":"a\\u0000b"}}',
  '{"server":{"name":"\\ud800"}}',
  '{"flavor":[]}',
  '{"flavor":{"name":"x","vcpus":1e999,"ram":1,"disk":1}}',
  '{"metadata":{"a":{}}}',
  '{"metadata":{"__proto__":"x"}}',
  '{"meta":{"constructor":"x"}}',
  '{"extra_specs":{"__proto__":{"x":1}}}',
  '{"extra_specs":{"resources__proto__:CUSTOM_A":"1","traitconstructor:HW_A":"required"}}',
  '{"migrate":{"host":[]}}',
  '{"os-migrateLive":null}',
  '{"evacuate":{}}',
  '{"constructor":null}',
  '{"reboot":{}}',
  '{"a":1,"b":2}',
  '{"addTenantAccess":{}}',
  '{"host":"x","binary":"nova-compute"}',
  '['.repeat(200) + ']'.repeat(200),
  `{"server":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
]
const IDENTS = ['%00', '%20', '..', 'x', "'", '%F0%9F%98%80', '%2F', 'a'.repeat(300), '__proto__', 'constructor', '0']
const QUERIES = [
  'limit=-1',
  'limit=1e3',
  'limit=99999999999999999999',
  'marker=%00',
  'marker=%27',
  'name=%5C',
  'name=%00',
  'name=%25%25%25',
  'name=(((((a%2B)%2B)%2B',
  'status=',
  'all_tenants=perhaps',
  'is_public=perhaps',
  'minRam=x',
  'sort_key=secret',
  'flavor=%F0%9F%98%80',
  'changes-since=yesterday',
]

eachCompute('bad input', api => {
  test('no path, query or body ends in a 5xx other than "not implemented"', async () => {
    await api.hypervisor()
    const server = await api.server(await api.flavor())
    const at = (path: string, ident: string) => path.replace(/:\w+/, ident).replaceAll(/:\w+/g, 'x')
    const send = async (method: string, url: string, body?: string) => {
      const { status } = await api.request(method, url, body)
      assert.ok(status < 500 || status === 501, `${method} ${url} ${body?.slice(0, 80)}: ${status}`)
    }
    for (const [path, methods] of Object.entries(routes)) {
      const urls = path.includes(':')
        ? IDENTS.map(ident => at(path, ident))
        : [path, ...QUERIES.map(query => `${path}?${query}`)]
      for (const method of Object.keys(methods)) {
        for (const url of urls) await send(method, url, method === 'GET' || method === 'DELETE' ? undefined : '{}')
        if (method === 'GET' || method === 'DELETE') continue
        for (const body of BODIES) await send(method, at(path, server.id), body)
      }
    }
    assert.equal((await api.show(server.id)).status, 'ACTIVE')
  })

  test('what a server must not be is refused, with a word on why, and makes nothing', async () => {
    const flavor = await api.flavor()
    const before = (await api.get('/servers')).body
    const good = { name: 'x', flavorRef: flavor, imageRef: CIRROS }
    for (const [wrong, word] of [
      [{ name: '' }, /name/],
      [{ name: ' x' }, /name/],
      [{ name: 'x'.repeat(256) }, /too long/],
      [{ name: undefined }, /name/],
      [{ flavorRef: undefined }, /flavorRef/],
      [{ flavorRef: 'no-such' }, /no-such could not be found/],
      [{ imageRef: '4b5c9d2a-0000-4000-8000-000000000000' }, /image/],
      [{ min_count: 0 }, /./],
      [{ min_count: 'many' }, /./],
      [{ min_count: 3, max_count: 2 }, /min_count must be <= max_count/],
      [{ metadata: { a: 'x'.repeat(256) } }, /./],
      [{ metadata: { 'a/b': 'x' } }, /./],
      [{ colour: 'red' }, /colour/],
      [{ return_reservation_id: 'perhaps' }, /return_reservation_id/],
    ] as const) {
      expectFault(await api.post('/servers', { server: { ...good, ...wrong } }), 400, word)
    }
    expectFault(await api.post('/servers', { server: { ...good, max_count: 101 } }), 403, /at most 100/)
    assert.deepEqual((await api.get('/servers')).body, before)
  })

  test('what a flavor must not be is refused', async () => {
    const good = { name: 'x', vcpus: 1, ram: 1, disk: 1 }
    for (const wrong of [
      { name: '' },
      { vcpus: 0 },
      { vcpus: '0' },
      { ram: -1 },
      { disk: 2 ** 31 },
      { disk: '9999999999' },
      { disk: 1.5 },
      { swap: 'much' },
      { rxtx_factor: 0 },
      { rxtx_factor: -1 },
      { id: 'a/b' },
      { id: ' a' },
      { 'os-flavor-access:is_public': 'perhaps' },
      { colour: 'red' },
    ]) {
      expectFault(await api.post('/flavors', { flavor: { ...good, ...wrong } }), 400)
    }
  })
})
