import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APIS } from './documents.ts'
import { requireDeclared, requireParameter } from './operation.ts'
import { check } from './schema.ts'
import { Type } from '../shared/type.ts'

test('a form that is not declared can not be read', () => {
  const [declared, other] = [check(Type.Object({})), check(Type.Object({}))]
  assert.doesNotThrow(() => requireDeclared([null, declared], declared))
  assert.throws(() => requireDeclared([declared], other), /does not declare/)
  assert.throws(() => requireDeclared(undefined, other), /does not declare/)
})

test('nor can a parameter', () => {
  const query = [check(Type.Object({ limit: Type.String() }))]
  assert.doesNotThrow(() => requireParameter(query, 'limit'))
  assert.throws(() => requireParameter(query, 'marker'), /marker/)
  assert.throws(() => requireParameter(query, '__proto__'))
  assert.throws(() => requireParameter(undefined, 'limit'))
})

test('every form that an operation declares can be checked, before the first client sends one', () => {
  const operations = Object.values(APIS).flatMap(({ routes }) => routes.map(({ operation }) => operation))
  const forms = operations.flatMap(({ body = [], query = [] }) => [...body, ...query])
  const checks = forms.filter(form => typeof form === 'function') as unknown as ReturnType<typeof check>[]
  assert.ok(checks.length > 50, `there are only ${checks.length}`)
  for (const checked of checks) assert.equal(checked(Symbol('nothing that JSON has')).ok, false)
})
