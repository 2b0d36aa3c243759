import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonText } from '../shared/json.ts'
import { type LogRow, Report, rowsOf } from './log.ts'
import type { ProviderId } from './schema/ids.ts'

const row = (action: string): LogRow => ({
  at: 1,
  request_id: null,
  user_id: 'me',
  project_id: null,
  roles: '',
  address: '',
  action,
  objects: jsonText([]),
  outcome: 'done',
})
const provider = (id: number) => ({ provider: id as ProviderId })

test('a transaction that tells nothing has nothing for the log', () => {
  const report = new Report()
  report.take({ kind: 'mark', subjects: [{ kind: 'node', id: 'a' }] })
  assert.ok(report.isEmpty)
})

test('its first entry carries what the others need, and each entry stays in its order', () => {
  const report = new Report()
  report.take({ kind: 'note', changes: [provider(1), provider(2), provider(1)] })
  report.take({ kind: 'log', entries: [row('a'), row('b')], history: [] })
  report.take({ kind: 'wake', topics: ['nodes', 'expiry'] })
  report.take({ kind: 'wake', topics: ['nodes'] })
  assert.deepEqual(rowsOf(report, 'me'), [
    { ...row('a'), origin: 'me', providers: [1, 2], topics: ['nodes', 'expiry'] },
    row('b'),
  ])
})

test('without an entry a bare row does, which nobody takes for one', () => {
  const report = new Report()
  report.take({ kind: 'wake', topics: ['leases'] })
  const [bare, ...others] = rowsOf(report, 'me')
  assert.deepEqual(others, [])
  assert.deepEqual([bare!.action, bare!.providers, bare!.topics], ['', null, ['leases']])
})

test('the reports of several transactions become one', () => {
  const [one, other] = [new Report(), new Report()]
  one.take({ kind: 'log', entries: [row('a')], history: [] })
  other.take({ kind: 'log', entries: [row('b')], history: [] })
  other.take({ kind: 'wake', topics: ['any'] })
  one.add(other)
  assert.deepEqual(
    one.entries.map(({ action }) => action),
    ['a', 'b'],
  )
  assert.deepEqual([...one.topics], ['any'])
})
