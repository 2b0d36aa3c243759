import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine, Waiting } from '../../../../src/client/status.ts'
import { search, type Searched } from './search.ts'

const machine = (name: string, changes: Partial<Machine> & { addresses?: string[] } = {}) =>
  ({ uuid: `uuid-${name}`, name, traits: [], next: null, kind: null, who: null, ...changes }) as unknown as Machine
const PAGES = [
  { text: 'Now', path: '/now' },
  { text: 'Calendar', path: '/calendar' },
]
const all = (changes: Partial<Searched> = {}): Searched => ({
  machines: [],
  traits: [],
  waiting: [],
  pages: PAGES,
  ...changes,
})
const texts = (typed: string, searched: Searched) => search(typed, searched).map(({ kind, text }) => `${kind} ${text}`)

test('nothing typed: the pages', () => {
  assert.deepEqual(texts(' ', all()), ['page Calendar', 'page Now'])
})

test('the whole name first, then its beginning, then a part of it, then anywhere', () => {
  const machines = ['xa01', 'rack-a01-02', 'a01-7', 'a01'].map(name => machine(name))
  assert.deepEqual(texts('A01', all({ machines })), [
    'machine a01',
    'machine a01-7',
    'machine rack-a01-02',
    'machine xa01',
  ])
})

test('a machine is found by what people have in hand, and it is said by what', () => {
  const machines = [machine('n1', { addresses: ['52:54:00:aa:bb:01'], note: 'Fan is loud' })]
  assert.deepEqual(
    search('aa:bb', all({ machines })).map(({ because }) => because),
    ['52:54:00:aa:bb:01'],
  )
  assert.deepEqual(
    search('loud fan', all({ machines })).map(({ because }) => because),
    ['fan is loud'],
  )
})

test('people, projects and bookings are found, each once', () => {
  const next = {
    id: 'l',
    name: 'nlp-course',
    who: 'bob',
    project: 'nlp',
    start: '2026-11-20T18:00:00Z',
    end: '2026-11-21T18:00:00Z',
  }
  const machines = [
    machine('n1', { who: 'bob', project: 'nlp', next }),
    machine('n2', { who: 'bob', project: 'nlp', next }),
  ]
  const waiting = [{ name: 'nlp-train', who: 'bob', project: 'nlp', place: 1, state: 'waiting' } as Waiting]
  assert.deepEqual(
    texts('nlp', all({ machines, waiting })).filter(text => !text.startsWith('machine')),
    ['project nlp', 'booking nlp-course', 'booking nlp-train'],
  )
  assert.equal(
    search('nlp-c', all({ machines })).find(({ kind }) => kind === 'booking')?.to,
    '/calendar?from=2026-11-20',
  )
})

test('few of many machines are shown', () => {
  const machines = Array.from({ length: 10_000 }, (_, at) => machine(`node-${at}`))
  assert.equal(search('node', all({ machines })).length, 8)
})
