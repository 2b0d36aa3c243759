// The words that say what a schema allows, and what is wrong with a value.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from '../shared/type.ts'
import { Flag, oneOf, orNull, Uuid } from './shapes.ts'
import { unexpected, wanted } from './wanted.ts'

void test('a schema is said in a few words', () => {
  assert.equal(wanted(Flag), 'true or false')
  assert.equal(wanted(oneOf('asc', 'desc')), 'one of asc, desc')
  assert.equal(wanted(Type.Integer({ minimum: 1, maximum: 9 })), 'a whole number from 1 to 9')
  assert.equal(wanted(orNull(Type.String({ maxLength: 80 }))), 'a string of at most 80 characters or null')
  assert.equal(wanted(Type.Array(Uuid, { minItems: 1 })), 'a list of at least 1 item, each a UUID')
  assert.equal(wanted(Type.Object({ a: Flag, b: Type.Optional(Flag) })), 'an object with a')
})

void test('its description is said instead, where it has one', () => {
  assert.equal(wanted(Type.String({ pattern: '^x$', description: 'A MAC address.' })), 'a MAC address')
  assert.equal(wanted(Type.String({ description: 'JSON: ["=", "$vcpus", "4"]' })), 'JSON: ["=", "$vcpus", "4"]')
})

void test('a refusal has the words that Ironic’s clients look for', () => {
  const name = Type.String({ pattern: '^[a-z]+$', description: 'A name.' })
  assert.equal(unexpected(Uuid, 'uuid', '!@#'), 'Expected UUID for uuid, not "!@#".')
  assert.match(unexpected(name, 'name', 'not/a/name'), /: "not\/a\/name" is an invalid name, it does not match\.$/)
  assert.match(
    unexpected(Type.String({ maxLength: 80 }), 'resource_class', 'x'.repeat(81)),
    /at most 80.*is too long\.$/,
  )
  assert.match(unexpected(Type.Array(Flag, { minItems: 1 }), 'steps', []), /: an empty list is too short\.$/)
})

void test('what may be secret or long is not said again', () => {
  assert.equal(unexpected(Type.String(), 'agent_token', 7), 'Expected a string for agent_token, not this.')
  assert.equal(unexpected(Type.String(), 'name', { password: 'x' }), 'Expected a string for name, not this object.')
  assert.ok(unexpected(Flag, 'flag', 'x'.repeat(10_000)).length < 200)
})
