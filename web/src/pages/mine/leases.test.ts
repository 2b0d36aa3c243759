import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease } from '../../../../src/client/leases.ts'
import { ahead, whatIn } from './leases.ts'

const lease = (name: string, start: string, end: string, more: Partial<Lease> = {}): Lease =>
  ({
    name,
    start_date: start,
    end_date: end,
    user_id: 'alice',
    status: 'PENDING',
    reservations: [],
    ...more,
  }) as unknown as Lease

test('bookings that are over, ended or of others are left out; the first comes first', () => {
  const now = Date.parse('2026-11-16T12:00:00Z')
  const found = ahead(
    [
      lease('later', '2026-11-18T12:00:00.000000', '2026-11-19T12:00:00.000000'),
      lease('runs', '2026-11-16T11:00:00.000000', '2026-11-16T13:00:00.000000'),
      lease('over', '2026-11-15T11:00:00.000000', '2026-11-16T11:59:00.000000'),
      lease('ended', '2026-11-16T11:00:00.000000', '2026-11-16T13:00:00.000000', { status: 'TERMINATED' }),
      lease('theirs', '2026-11-16T11:00:00.000000', '2026-11-16T13:00:00.000000', { user_id: 'bob' }),
    ],
    'alice',
    now,
  )
  assert.deepEqual(
    found.map(({ name }) => name),
    ['runs', 'later'],
  )
})

test('what is booked is counted by its kind', () => {
  const reservations = [
    { resource_type: 'virtual:instance', amount: 4, vcpus: 4 },
    { resource_type: 'physical:node', resource_class: 'gpu', nodes: [{}, {}] },
    { resource_type: 'physical:node', resource_class: 'cpu', min: '2', max: '3' },
    { resource_type: 'physical:host', min: 1, max: 1 },
  ]
  assert.equal(whatIn({ reservations }), '4 servers of 4 VCPU, 2 gpu, 2 to 3 cpu, 1 host')
})
