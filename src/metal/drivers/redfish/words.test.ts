import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ladder } from './changes.ts'
import { messageIdsIn, saidIn } from './words.ts'

const said = (body: unknown, text = '') => saidIn({ body, text }, null)
const info = (...entries: [severity: string, message: string][]) =>
  entries.map(([Severity, Message]) => ({ Severity, Message, MessageId: `Base.1.8.${Message}` }))

test('the first critical message is repeated, then the first warning, then the error’s own', () => {
  const extended = info(['OK', 'fine'], ['Warning', 'warm'], ['Critical', 'hot'], ['Critical', 'burning'])
  const error = { message: 'own', '@Message.ExtendedInfo': extended }
  assert.equal(said({ error }), 'hot')
  assert.equal(said({ error: { ...error, '@Message.ExtendedInfo': extended.slice(0, 2) } }), 'warm')
  assert.equal(said({ error: { ...error, '@Message.ExtendedInfo': extended.slice(0, 1) } }), 'own')
})

test('an error that only points to the extended information is not repeated', () => {
  const message = 'A general error has occurred. See ExtendedInfo for more information.'
  assert.equal(said({ error: { message, '@Message.ExtendedInfo': info(['OK', 'the reason']) } }), 'the reason')
})

test('an error without a list or without its frame is understood', () => {
  assert.equal(said({ error: { '@Message.ExtendedInfo': info(['Critical', 'alone'])[0] } }), 'alone')
  assert.equal(said({ '@Message.ExtendedInfo': info(['Critical', 'bare']) }), 'bare')
  assert.equal(said(null, '  plain\ntext '), 'plain text')
  for (const odd of [[], 5, 'x', { error: 'text' }, { error: { '@Message.ExtendedInfo': [null, 7] } }]) {
    assert.equal(typeof said(odd), 'string')
  }
})

test('message ids lose their registry and version', () => {
  const error = { '@Message.ExtendedInfo': [{ MessageId: 'IDRAC.2.8.SYS518' }, { MessageId: 'SYS1' }, {}] }
  assert.deepEqual(messageIdsIn({ error }), ['SYS518', 'SYS1'])
})

test('an ETag is tried as it is, then strong, then not at all', () => {
  assert.deepEqual(ladder('W/"1"'), ['W/"1"', '"1"', null])
  assert.deepEqual(ladder('"1"'), ['"1"', null])
  assert.deepEqual(ladder(null), [null, '*'])
})
