// Nothing that a client can send ends in a 5xx, and links follow a proxy only when it is trusted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../src/api/baremetal/routes.ts'
import { eachMetal, uuid } from '../support/baremetal.ts'

const BODIES = [
  '',
  'x',
  'null',
  '1',
  '"x"',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '{"":null}',
  '{"a":{"b":[]}}',
  '\u0000',
  '{"a":1e999}',
  '{"target":null}',
  '{"target":{}}',
  '{"traits":{}}',
  '{"traits":[null]}',
  '{"reason":[]}',
  '{"boot_device":{}}',
  '[{"op":"add"}]',
  '[{"op":"add","path":"/extra/__proto__/x","value":1}]',
  '[{"op":"remove","path":"/driver"}]',
  '[{"op":"add","path":"/instance_info","value":[]}]',
  '[{"op":"replace","path":"/name/x","value":1}]',
  '[{"op":"add","path":"/driver_info/a/b/c","value":1}]',
  '[{"op":"add","path":"/maintenance","value":{}}]',
  '{"driver":[]}',
  '{"driver":"fake-hardware","uuid":{}}',
  '{"driver":"fake-hardware","properties":{"cpus":{}}}',
  '{"driver":"fake-hardware","deploy_interface":7}',
  '{"node_uuid":[],"address":{}}',
  '{"id":{}}',
  '{"extra":[]}',
  '['.repeat(200) + ']'.repeat(200),
  `{"driver":"fake-hardware","extra":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
  `{"driver":"fake-hardware","description":"\\ud800"}`,
]
const IDENTS = [
  '%00',
  '%20',
  '..',
  'x',
  "'",
  '%F0%9F%98%80',
  '%2F',
  'a'.repeat(300),
  '__proto__',
  'detail',
  'constructor',
]
const QUERIES = [
  'limit=1e3',
  'limit=9999999999999999999',
  'marker=',
  'marker=%00',
  'fields=,',
  'fields=__proto__',
  'fields=constructor',
  'sort_key=__proto__',
  'sort_dir=',
  'detail=',
  'node=',
  'address=',
  'type=',
  'owner=%ED%A0%80',
  'shard=,',
  'a[]=1',
  '%',
  'provision_state=',
  'resource_class=%00',
  'traits=%00',
  'description_contains=%25_',
  'conductor=%27',
  '__proto__=1',
]

eachMetal('bad input', api => {
  void test('no body, name or query ends in a 5xx', async () => {
    const node = await api.node()
    let count = 0
    const expectNo5xx = async (method: string, path: string, body?: string) => {
      const { status } = await api.request(method, path, body, { version: 'latest' })
      assert.ok(status < 500, `${status} to ${method} ${path} with ${body?.slice(0, 80)}`)
      count++
    }
    for (const [route, methods] of Object.entries(routes)) {
      const path = `/v1${route}`.replace(':ident', node).replaceAll(/:\w+/g, uuid())
      for (const method of Object.keys(methods)) {
        // The node itself is still wanted.
        if (method === 'DELETE' && route === '/nodes/:ident') continue
        if (method === 'GET') for (const query of QUERIES) await expectNo5xx(method, `${path}?${query}`)
        else for (const body of BODIES) await expectNo5xx(method, path, body)
        if (!route.includes(':')) continue
        for (const ident of IDENTS) await expectNo5xx(method, `/v1${route}`.replaceAll(/:\w+/g, ident))
      }
    }
    assert.ok(count > 1_000)
    assert.equal((await api.show(node)).uuid, node)
  })

  void test('a proxy that is not trusted does not change links', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
    const { body } = await api.get('/v1', { headers })
    assert.ok(body.links[0].href.startsWith(api.origin))
  })
})

eachMetal(
  'behind a proxy',
  api => {
    void test('links are those that the proxy was asked for', async () => {
      const headers = { 'x-forwarded-host': 'metal.example', 'x-forwarded-proto': 'https' }
      const { body } = await api.get('/v1', { headers })
      assert.equal(body.links[0].href, 'https://metal.example/baremetal/v1/')
    })
  },
  { trustForwarded: '1' },
)
