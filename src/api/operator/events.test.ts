import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOf } from '../../events/event.ts'
import { getEvents } from './events.ts'
import type { OperatorRequest } from './request.ts'

test('a poll whose client has hung up before it waits gives its place back at once', async () => {
  let places = 0
  const place = endOf(1)
  const publisher = {
    newest: async () => place,
    read: async () => ({ events: [], cursor: place, isLast: true }),
    changed: async () => assert.fail('it waits for nobody'),
  }
  const streams = { enter: () => (places++, () => void places--) }
  const request = {
    checkedQuery: () => ({ wait: '50s' }),
    header: () => null,
    caller: { user: 'bob', project: 'lab', roles: new Set(), systemScope: false },
    raw: { method: 'GET', raw: { socket: { destroyed: true, once: () => {}, off: () => {} } } },
    context: { publisher, streams, metrics: { eventsTold: () => {} }, config: { eventSource: '/holdfast' } },
  }
  const { body } = await getEvents(request as unknown as OperatorRequest)
  assert.deepEqual(body, { events: [], cursor: '1.end', more: false })
  assert.equal(places, 0)
})
