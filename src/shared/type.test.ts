import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type as TypeBox } from 'typebox'
import { Type } from './type.ts'

/** All builders, nested and with options. */
const built = (type: typeof Type) => {
  const text = type.String({ maxLength: 3 })
  return {
    plain: [type.String(), type.Number(), type.Integer(), type.Boolean(), type.Null(), type.Unknown(), text],
    options: [type.Number({ minimum: 1 }), type.Integer({ maximum: 2 }), type.Unknown({ description: 'any' })],
    literals: [type.Literal('up'), type.Literal(0), type.Literal(true, { description: 'always' })],
    unsafe: type.Unsafe<string>({ type: 'string', enum: ['a'] }),
    list: type.Array(text, { maxItems: 2 }),
    union: type.Union([text, type.Null()], { description: 'perhaps' }),
    records: [
      type.Record(type.String(), type.Null(), { additionalProperties: false }),
      type.Record(type.String({ pattern: '^[A-Z]+$' }), type.Integer()),
      type.Record(type.String({ maxLength: 9 }), type.Unknown()),
    ],
    objects: [
      type.Object({}),
      type.Object({ a: type.Optional(text), b: text, c: type.Null() }, { additionalProperties: false }),
      type.Object({ a: type.Optional(type.Optional(text)) }),
      type.Object({ a: { ...type.Optional(text), description: 'a copy is required again' } }),
    ],
  }
}

test('schemas are those that typebox builds, to the order of their keys', () => {
  assert.equal(JSON.stringify(built(Type), null, 1), JSON.stringify(built(TypeBox as typeof Type), null, 1))
})

test('a schema that is optional in one object can be required in another', () => {
  const text = Type.String()
  assert.deepEqual(Type.Object({ a: Type.Optional(text), b: text }).required, ['b'])
})
