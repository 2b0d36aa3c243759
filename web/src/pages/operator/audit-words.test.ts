import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '../../../../src/client/operations.ts'
import { questionsIn, sinceOf } from './audit-search.ts'
import { foldedOf, sentenceOf } from './audit-words.ts'

const entry = (more: Partial<AuditEntry>) =>
  ({ action: 'baremetal:node:create', objects: [], outcome: 'done', ...more }) as AuditEntry
const nameOf = (id: string) => `name of ${id}`

test('an entry names its objects once, and a provider only if it is not that of the node', () => {
  const node = { kind: 'node', id: 'n1', data: { name: 'rack-1' } }
  const { verb, objects } = sentenceOf(
    entry({ objects: [node, { kind: 'resource_provider', id: 'n1' }, node] }),
    nameOf,
  )
  assert.equal(verb, 'added')
  assert.deepEqual(
    objects.map(({ name }) => name),
    ['rack-1'],
  )
})

test('an action without words of its own is read backwards', () => {
  assert.equal(sentenceOf(entry({ action: 'baremetal:some_thing:shake' }), nameOf).verb, 'shake some thing')
})

test('what is typed is a request, an action, or a name that is sought as object, user and project', () => {
  assert.deepEqual(questionsIn(' req-1 '), [{ request_id: 'req-1' }])
  assert.deepEqual(questionsIn('baremetal:node:create'), [{ action: 'baremetal:node:create' }])
  assert.deepEqual(questionsIn('bob'), [{ object: 'bob' }, { user: 'bob' }, { project: 'bob' }])
  assert.deepEqual(questionsIn(''), [{}])
})

test('a period reaches back from now', () => {
  assert.equal(sinceOf('day', Date.parse('2026-11-16T12:00:00Z')), '2026-11-15T12:00:00Z')
  assert.equal(sinceOf('all', 0), undefined)
})

test('entries that say the same one after the other are told once', () => {
  const login = entry({ action: 'identity:login', user: 'carol' })
  assert.deepEqual(
    foldedOf([login, login, entry({}), login]).map(({ times }) => times),
    [2, 1, 1],
  )
})
