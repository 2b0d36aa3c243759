import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { addressOf, type Document, exampleOf, operationsIn, typeOf } from './document.ts'

const documentOf = (api: string) =>
  JSON.parse(readFileSync(new URL(`../../../../docs/openapi/${api}.json`, import.meta.url), 'utf8')) as Document

test('every operation of every document is shown with its address, and its references are followed', () => {
  for (const api of ['baremetal', 'placement', 'reservation', 'operator', 'compute', 'identity', 'image']) {
    const operations = operationsIn(documentOf(api))
    assert.ok(operations.length > 0)
    for (const { path, parameters, summary } of operations) {
      assert.match(path, /^\//)
      assert.notEqual(summary, '')
      for (const { name } of parameters) assert.equal(typeof name, 'string')
    }
  }
})

test('an example of a body has what is required', () => {
  const document = documentOf('baremetal')
  const create = operationsIn(document).find(({ key }) => key === 'post /v1/allocations')!
  const example = exampleOf(document, create.body!) as object
  assert.ok('resource_class' in example)
})

test('a type is told in a few words', () => {
  const document: Document = { info: { title: '', version: '' }, paths: {} }
  assert.equal(typeOf(document, { type: 'array', items: { type: 'string', format: 'uuid' } }), 'list of uuid')
  assert.equal(typeOf(document, { enum: ['a', 'b'] }), 'one of a, b')
  assert.equal(typeOf(document, { anyOf: [{ type: 'string' }, { type: 'null' }] }), 'string or null')
})

test('a value never leaves its segment of the path', () => {
  assert.equal(addressOf('/v1/nodes/{node}', { node: '../x y' }, {}), '/v1/nodes/..%2Fx%20y')
  assert.equal(addressOf('/v1/nodes/{node}', { node: '..' }, { limit: '2', marker: '' }), '/v1/nodes/%2E%2E?limit=2')
})
