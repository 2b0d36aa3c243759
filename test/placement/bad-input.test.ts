// Whatever is sent, the answer is a clear refusal in Placement's form, and what is refused changes nothing.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import * as fc from 'fast-check'
import { consumerBody, expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'
import { badRequests } from './bad-requests.ts'
import { rawAnswer } from './raw.ts'
import { arrange, expectRefusal, known, stateOf } from './something-to-damage.ts'

const RUNS = Number(process.env['HOLDFAST_RUNS'] ?? 400)
const BODY_ROUTES = [
  ['POST', '/resource_providers', 'name'],
  ['PUT', `/resource_providers/${known.provider}`, 'name'],
  ['PUT', `/resource_providers/${known.provider}/inventories`, 'inventories'],
  ['POST', `/resource_providers/${known.provider}/inventories`, 'total'],
  ['PUT', `/resource_providers/${known.provider}/inventories/VCPU`, 'total'],
  ['PUT', `/resource_providers/${known.provider}/aggregates`, 'aggregates'],
  ['PUT', `/resource_providers/${known.provider}/traits`, 'traits'],
  ['POST', '/resource_classes', 'name'],
  ['PUT', `/allocations/${known.consumer}`, 'mappings'],
  ['POST', '/allocations', known.consumer],
  ['POST', '/reshaper', 'inventories'],
] as const

eachStore('bad input', api => {
  before(() => arrange(api))

  test('any request to any route is answered, refused in form, and changes nothing when refused', async () => {
    let state = await stateOf(api)
    let refused = 0
    await fc.assert(
      fc.asyncProperty(badRequests(known), async ({ method, path, version, body, headers }) => {
        const versionHeader = version === undefined ? {} : { 'openstack-api-version': version }
        const answer = await api.request(method, path, body, {
          version: null,
          headers: { ...headers, ...versionHeader },
        })
        if (answer.status < 400) {
          await arrange(api)
          state = await stateOf(api)
          return
        }
        refused++
        expectRefusal(answer, method)
        assert.equal(await stateOf(api), state, 'a refused request changed something')
      }),
      { numRuns: RUNS },
    )
    assert.ok(refused > RUNS / 2, 'most of these must be bad')
    await api.fsck()
  })

  test('NUL and half a surrogate pair are refused in every string', async () => {
    const state = await stateOf(api)
    const path = `/resource_providers/${known.provider}`
    const claims = (owner: object) => ({ ...consumerBody({ [known.provider]: { VCPU: 1 } }, null), ...owner })
    for (const odd of ['a\0b', '\0', '\ud800', 'x\udc00']) {
      const requests: [string, string, unknown][] = [
        ['POST', '/resource_providers', { name: odd }],
        ['PUT', path, { name: odd }],
        ['PUT', `/allocations/${randomUUID()}`, claims({ project_id: odd })],
        ['PUT', `/allocations/${randomUUID()}`, claims({ user_id: odd })],
        ['POST', '/allocations', { [randomUUID()]: claims({ project_id: odd }) }],
        [
          'PUT',
          `${path}/traits`,
          { traits: [odd], resource_provider_generation: await api.generation(known.provider) },
        ],
        ['POST', '/resource_classes', { name: `CUSTOM_${odd}` }],
        ['PUT', `${path}/inventories`, { inventories: { [odd]: { total: 1 } }, resource_provider_generation: 1 }],
      ]
      for (const [method, path, body] of requests) {
        expectRefusal(expectStatus(await api.request(method, path, body), 400, 409))
      }
    }
    assert.equal(await stateOf(api), state)
  })

  test('nesting 40,000 deep is refused on every route with a body', async () => {
    const state = await stateOf(api)
    const depth = 40_000
    const lists = '['.repeat(depth) + ']'.repeat(depth)
    const objects = '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
    for (const [method, path, member] of BODY_ROUTES) {
      // The escape makes the server look through all strings.
      for (const body of [lists, objects, `{"${member}": ${lists}, "y": "\\u0041"}`]) {
        expectRefusal(expectStatus(await api.request(method, path, body), 400))
      }
    }
    assert.equal(await stateOf(api), state)
  })

  test('nesting 100,000 deep is harmless where any value is allowed', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const claims = consumerBody({ [known.provider]: { VCPU: 1 } }, null, { user_id: 'USER' })
    const body = JSON.stringify({ ...claims, mappings: 'DEEP' })
      .replace('"DEEP"', `{"": ${deep}}`)
      .replace('USER', String.raw`\u0041`)
    expectStatus(await api.put(`/allocations/${known.consumer}`, body), 400, 409)
    const odd = String.raw`{"resource_provider_generation": 1, "inventories": {"l\u0041": {"total": 1, "x": DEEP}}}`
    const path = `/resource_providers/${known.provider}/inventories`
    expectStatus(await api.put(path, odd.replace('DEEP', deep)), 400, 409)
  })

  test('a body of 10 MB is refused on every route with a body', async () => {
    const state = await stateOf(api)
    const body = JSON.stringify({ name: 'x'.repeat(10 * 1024 * 1024) })
    for (const [method, path] of BODY_ROUTES) {
      const { status } = await rawAnswer(api.origin, {
        line: `${method} /placement${path} HTTP/1.1`,
        headers: ['content-type: application/json', `content-length: ${body.length}`, 'x-auth-token: admin'],
        body,
      })
      assert.equal(status, 413, `${method} ${path}`)
    }
    assert.equal(await stateOf(api), state)
  })

  test('long URLs and headers are refused', async () => {
    for (const path of [`/traits/${'A'.repeat(33_000)}`, `/resource_providers?name=${'x'.repeat(33_000)}`]) {
      expectRefusal(expectStatus(await api.get(path), 414))
    }
    for (const path of [`/traits/${'A'.repeat(100_000)}`]) expectStatus(await api.get(path), 414, 431)
    const { status } = await api.get('/traits', { headers: { 'x-long': 'x'.repeat(100_000) } })
    assert.equal(status, 431)
    expectStatus(await api.get(`/traits/${'A'.repeat(10_000)}`), 404)
    expectStatus(await api.put(`/traits/CUSTOM_${'A'.repeat(10_000)}`), 400)
  })
})
