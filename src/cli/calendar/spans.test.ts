// What the server says is promised, as rows, bars and a sentence.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Machine, Span, Status } from '../../client/index.ts'
import { chartRowsOf, sentenceOf, spanRowsOf } from './spans.ts'

const NOW = Date.parse('2026-11-16T17:12:00Z')
const FROM = Date.parse('2026-11-15T23:00:00Z')

const machine = (name: string, of: string, state: Machine['state'] = 'free') =>
  ({ uuid: `uuid-of-${name}`, name, class: of, state }) as Machine

const span = (name: string, more: Partial<Span> = {}): Span => ({
  machine: `uuid-of-${name}`,
  kind: 'allocation',
  id: 'a1',
  name: 'job-1',
  who: 'bob',
  project: 'nlp',
  start: '2026-11-16T09:00:00Z',
  end: null,
  mine: false,
  may: [],
  ...more,
})

const statusOf = (machines: Machine[], spans: Span[]) =>
  ({ now: new Date(NOW).toISOString(), machines, spans }) as unknown as Status

test('machines stand below their class, in the order in which people count', () => {
  const rows = chartRowsOf(statusOf([machine('n10', 'gpu'), machine('c1', 'cpu'), machine('n9', 'gpu')], []), FROM)
  assert.deepEqual(
    rows.map(({ name, isHeading = false }) => [name, isHeading]),
    [
      ['cpu', true],
      ['c1', false],
      ['gpu', true],
      ['n9', false],
      ['n10', false],
    ],
  )
  const one = chartRowsOf(statusOf([machine('n1', 'gpu')], []), FROM)
  assert.deepEqual(one, [{ name: 'n1', bars: [] }])
})

test('a promise says who and what, unless that is hidden; one without a beginning was there before', () => {
  const hidden = span('n1', { who: null, name: null, start: null, end: '2026-11-17T09:00:00Z' })
  const [row] = chartRowsOf(statusOf([machine('n1', 'gpu', 'taken')], [span('n1'), hidden]), FROM)
  assert.deepEqual(row!.bars, [
    { look: 'taken', start: Date.parse('2026-11-16T09:00:00Z'), end: null, label: 'bob job-1' },
    { look: 'taken', start: FROM, end: Date.parse('2026-11-17T09:00:00Z'), label: '' },
  ])
})

test('what can not be had from now on does not look free', () => {
  for (const state of ['broken', 'setup', 'retired'] as const) {
    const [row] = chartRowsOf(statusOf([machine('n1', 'gpu', state)], []), FROM)
    assert.deepEqual(row!.bars, [{ look: state, start: NOW, end: null, label: state }])
  }
})

test('the sentence counts what is free all the time, and says in which zone', () => {
  const status = statusOf([machine('n1', 'gpu'), machine('n2', 'gpu'), machine('c1', 'cpu')], [span('n1')])
  const sentence = (zone: string) =>
    sentenceOf(chartRowsOf(status, FROM), { from: FROM, to: FROM + 86_400_000, now: NOW, zone })
  const berlin = '2 of 3 machines are free all the time from today 00:00 to tomorrow 00:00.'
  assert.equal(sentence('Europe/Berlin'), `${berlin} Times are those of Europe/Berlin (CET).`)
  for (const zone of ['UTC', 'Etc/UTC']) assert.match(sentence(zone), /Times are those of UTC\.$/)
})

test('programs get the names of machines', () => {
  const [row] = spanRowsOf(statusOf([machine('n1', 'gpu')], [span('n1')]))
  assert.deepEqual([row!.machine, row!.name, 'may' in row!], ['n1', 'job-1', false])
})
