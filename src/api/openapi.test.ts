import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ApiDescription, documentOf, type RouteDescription } from './openapi.ts'
import type { Operation } from './operation.ts'
import { from, named, orNull, Text } from './shapes.ts'
import { Type } from '../shared/type.ts'

const Thing = named('Thing', { id: Text, owner: from('1.5', orNull(Text)) })

const route = (method: string, path: string, operation: Partial<Operation> = {}): RouteDescription => ({
  method,
  path,
  id: 'showThing',
  operation: { summary: 'Show a thing', answers: { 200: Thing }, ...operation },
  policy: { action: 'things:show', rule: 'admin' },
})

const api = (routes: RouteDescription[], more: Partial<ApiDescription> = {}): ApiDescription => ({
  title: 'Things',
  version: '1.9',
  description: 'Things.',
  url: '/things',
  versionHeader: { name: 'X-Version', example: '1.9' },
  refusal: named('Refusal', { message: Text }),
  routes,
  ...more,
})
const only = (operation: Partial<Operation>) =>
  documentOf(api([route('POST', '/things', operation)])).paths['/things']!['post']!

test('a path lists its parameters, and an operation its policy', () => {
  const { paths } = documentOf(api([route('GET', '/things/:id')]))
  const { parameters, 'x-holdfast-policy': policy } = paths['/things/{id}']!['get']!
  assert.deepEqual(parameters, [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }])
  assert.deepEqual(policy, { action: 'things:show', rule: 'admin' })
})

test('a named shape is kept once, and members show the version that brought them', () => {
  const { components, paths } = documentOf(api([route('GET', '/things/:id'), route('GET', '/things')]))
  assert.deepEqual(Object.keys(components.schemas), ['Refusal', 'Thing'])
  const { properties } = components.schemas['Thing'] as { properties: object }
  assert.deepEqual(properties, {
    id: { type: 'string' },
    owner: { type: ['string', 'null'], description: 'New in 1.5.', 'x-holdfast-since': '1.5' },
  })
  assert.match(JSON.stringify(paths['/things']), /"\$ref":"#\/components\/schemas\/Thing"/)
})

test('two shapes of one name are a mistake', () => {
  const routes = [route('GET', '/a'), route('GET', '/b', { answers: { 200: named('Thing', {}) } })]
  assert.throws(() => documentOf(api(routes)), /two shapes are named Thing/)
})

test('the document of an API without versions mentions none', () => {
  const { versionHeader: _, ...plain } = api([route('GET', '/things')])
  assert.doesNotMatch(JSON.stringify(documentOf(plain)), /x-holdfast-since|Version/)
})

test('the newest of several forms is shown, with the version of each member that older forms lack', () => {
  const form = (since: string | undefined, ...names: string[]) => ({
    schema: Type.Object(Object.fromEntries(names.map(name => [name, Text]))),
    ...(since !== undefined && { since }),
  })
  const body = [form('1.7', 'a', 'b', 'c'), form('1.4', 'a', 'b'), form(undefined, 'a')]
  const { properties } = (
    only({ body })['requestBody'] as {
      content: { 'application/json': { schema: { properties: Record<string, object> } } }
    }
  ).content['application/json'].schema
  const since = Object.entries(properties).map(([name, member]) => [name, Reflect.get(member, 'x-holdfast-since')])
  assert.deepEqual(Object.fromEntries(since), { a: undefined, b: '1.4', c: '1.7' })
})

test('a body is required unless it may be left out, and absent where the newest version takes none', () => {
  const form = { schema: Type.Object({}) }
  const required = (operation: Partial<Operation>) =>
    (only(operation)['requestBody'] as { required?: boolean } | undefined)?.required
  assert.equal(required({ body: [form] }), true)
  assert.equal(required({ body: [form], bodyIsOptional: true }), false)
  assert.equal(required({ body: [null, form] }), undefined)
})

test('each route of a shared handler gets its own id', () => {
  const routes = [route('GET', '/things/:id'), route('GET', '/things/:id/parts'), route('POST', '/things/:id/parts')]
  const ids = Object.values(documentOf(api(routes)).paths).flatMap(({ parameters: _, ...methods }) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  assert.deepEqual(ids, ['showThing', 'showThingParts', 'showThingPost'])
  assert.throws(() => documentOf(api([{ ...route('GET', '/'), id: '' }])), /needs an id/)
})

test('an open route asks for no token', () => {
  const { paths } = documentOf(api([{ ...route('GET', '/'), isOpen: true }]))
  assert.deepEqual(paths['/']!['get']!['security'], [])
})
