// The OpenAPI documents: checked in, served to everyone, valid, and true.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { Validator } from '@seriousme/openapi-schema-validator'
import { fileOf, FOLDER } from '../../scripts/openapi.ts'
import { APIS, documentBytes } from '../../src/api/documents.ts'
import type { Document, RouteDescription } from '../../src/api/openapi.ts'
import { eachSetting } from '../policy/setting.ts'
import { Client } from '../support/client.ts'
import { eachIdentity } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { refused } from './from-schema.ts'
import { idsIn, VERSIONS } from './ids.ts'

const NAMES = ['placement', 'baremetal', 'reservation', 'compute', 'identity', 'image', 'operator']
const documents = NAMES.map(name => [name, JSON.parse(documentBytes(name)!.toString()) as Document] as const)

type Operation = Record<string, unknown> & { operationId: string; summary: string; responses: object }
const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, { parameters: _, ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation: operation as Operation })),
  )

void test('there is one for each API, and what is checked in is what the code gives', () => {
  assert.deepEqual(Object.keys(APIS), NAMES)
  assert.deepEqual(readdirSync(FOLDER).sort(), NAMES.map(name => `${name}.json`).sort())
  for (const name of NAMES) {
    assert.ok(readFileSync(fileOf(name)).equals(documentBytes(name)!), `${name}: run node scripts/openapi.ts`)
  }
})

for (const [name, document] of documents) {
  void test(`that of ${name} is valid OpenAPI 3.1`, async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document) as never)
    assert.ok(valid, JSON.stringify(errors)?.slice(0, 2_000))
    assert.equal(document.openapi, '3.1.0')
  })

  void test(`that of ${name} says of every operation in a line what it is for, and names it once`, () => {
    const all = operationsOf(document)
    assert.ok(all.length > 0)
    for (const { method, path, operation } of all) {
      assert.match(operation.summary, /^[A-Z][^\n.]{8,100}$/, `${method} ${path}`)
      assert.match(operation.operationId, /^[a-z][A-Za-z0-9]+$/, `${method} ${path}`)
    }
    const ids = all.map(({ operation }) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
  })
}

void test('members and paths that came later say with which version', () => {
  const placement = documents[0]![1]
  assert.equal(placement.paths['/traits']!['get']!['x-holdfast-since'], '1.6')
  const { properties } = placement.components.schemas['ResourceProvider'] as { properties: Record<string, object> }
  assert.deepEqual(
    Object.entries(properties).flatMap(([name, member]) => ('x-holdfast-since' in member ? [name] : [])),
    ['parent_provider_uuid', 'root_provider_uuid'],
  )
  const baremetal = documents[1]![1]
  assert.equal(baremetal.paths['/v1/reservations']!['post']!['x-holdfast-since'], '1.83')
})

eachIdentity('documents for those who are not known', ({ api }) => {
  const client = (path: string) => fetch(`${api.origin}/holdfast/v1/openapi${path}`)

  void test('are listed with their links, and the links lead to them', async () => {
    const list = (await (await client('')).json()) as { documents: { api: string; href: string }[] }
    assert.deepEqual(
      list.documents.map(({ api }) => api),
      NAMES,
    )
    for (const { api, href } of list.documents) {
      const answer = await fetch(href)
      assert.equal(answer.headers.get('content-type'), 'application/json')
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(documentBytes(api)!))
    }
  })

  void test('are only those that there are, and can only be read', async () => {
    for (const name of ['nova', '__proto__', 'placement%2F..', '']) {
      assert.equal((await client(`/${name}`)).status, 404, name)
    }
    assert.equal((await fetch(`${api.origin}/holdfast/v1/openapi`, { method: 'POST' })).status, 401)
    const token = await api.token('alice')
    const post = await fetch(`${api.origin}/holdfast/v1/openapi`, {
      method: 'POST',
      headers: { 'x-auth-token': token },
    })
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET'])
  })

  void test('say of the roots of the APIs who may read them', async () => {
    for (const [name, document] of documents) {
      const { url } = APIS[name]!
      for (const { path, operation } of operationsOf(document).filter(({ operation }) => 'security' in operation)) {
        if (path.includes('{') || operation['requestBody'] || 'x-holdfast-since' in operation) continue
        const answer = await fetch(`${api.origin}${url === '/' ? '' : url}${path}`)
        assert.ok(String(answer.status) in operation.responses, `${name} ${path}: ${answer.status}`)
      }
    }
  })
})

const RUNS = Number(process.env['HOLDFAST_RUNS'] ?? 10)

async function requireRefused(client: Client, route: RouteDescription, path: string): Promise<void> {
  const form = route.operation.body![0]!
  await fc.assert(
    fc.asyncProperty(refused(form.schema), async body => {
      const sent = JSON.stringify(body)
      if (sent === undefined) return
      const { status } = await client.request(route.method, path, sent, { version: null, headers: VERSIONS })
      assert.ok(status >= 400 && status < 500, `${route.method} ${path} took ${sent}: ${status}`)
    }),
    { numRuns: RUNS },
  )
}

eachSetting('what a document refuses', setting => {
  void test('the server refuses too, on every path that takes a body', async () => {
    const { pathOf } = await idsIn(setting)
    let count = 0
    for (const name of NAMES.filter(name => name !== 'identity')) {
      const { url, routes } = APIS[name]!
      for (const route of routes.filter(({ operation, method }) => operation.body?.[0] && method !== 'GET')) {
        await requireRefused(setting.client, route, pathOf(`${url === '/' ? '' : url}${route.path}`))
        count++
      }
    }
    assert.ok(count > 40, `only ${count}`)
  })
})

eachIdentity('what the document of identity refuses', ({ api }) => {
  void test('the server refuses too', async () => {
    const client = new Client('/identity', api.origin)
    for (const route of APIS['identity']!.routes.filter(({ operation }) => operation.body)) {
      await requireRefused(client, route, route.path.replace(':user', 'me'))
    }
    client.close()
    expectStatus(await api.logIn('alice'), 201)
  })
})
