import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredLease } from '../leases/lifecycle/rows.ts'
import type { Reservation } from '../leases/types.ts'
import { limits } from '../shared/limits.ts'
import { appointmentOfLease, type NodeWithUuid } from './appointments.ts'

const times = { created_at: 1_000, updated_at: null }
const nodes = (count: number): Reservation => ({
  id: 'r',
  lease_id: 'l',
  status: 'active',
  terms: { resource_type: 'physical:node', min: count, max: count, resource_class: 'gpu', traits: [] },
  missing_resources: false,
  resources_changed: false,
  nodes: Array.from({ length: count }, (_, i) => ({ node: `node-${i}`, allocation: null })),
  ...times,
})
const lease = (more: Partial<StoredLease> = {}): StoredLease => ({
  id: 'l',
  name: 'week 7',
  project_id: 'p',
  user_id: 'u',
  start_at: 0,
  end_at: 1,
  status: 'ACTIVE',
  status_reason: null,
  degraded: false,
  is_deleted: false,
  reservations: [nodes(1)],
  events: [],
  due: {},
  ...times,
  ...more,
})
const changedAt =
  (updated_at: number | null, isSeen = true): NodeWithUuid =>
  uuid => ({ uuid, name: null, description: 'rack 4', updated_at, isSeen })

test('the sequence grows with each change of the lease, of its reservations and of its nodes, and fits 32 bits', () => {
  const sequence = (one: StoredLease, node: number | null = null) => appointmentOfLease(one, changedAt(node)).sequence
  const reserved = (updated_at: number) => lease({ reservations: [{ ...nodes(1), updated_at }] })
  const steps = [
    sequence(lease()),
    sequence(lease({ updated_at: 1_000 })),
    sequence(lease({ updated_at: 1_100 })),
    sequence(lease(), 1_200),
    sequence(reserved(1_300), 1_200),
    sequence(lease({ updated_at: 1_400 }), 1_200),
    sequence(lease({ updated_at: 2 ** 52 })),
  ]
  assert.deepEqual(
    steps,
    steps.toSorted((a, b) => a - b).filter((step, i, all) => step !== all[i - 1]),
  )
  assert.equal(steps[0], 0)
  assert.equal(steps.at(-1), 2 ** 31 - 1)
  // A node that was changed before the lease was made says nothing about the lease.
  assert.equal(sequence(lease(), 900), 0)
})

test('a node that the reader does not see is only its uuid', () => {
  const seen = appointmentOfLease(lease(), uuid => ({ ...changedAt(null)(uuid)!, name: 'n1' }))
  assert.deepEqual([seen.summary, seen.location], ['week 7: n1', 'rack 4'])
  assert.match(seen.description, /^Nodes: n1 \(node-0\)$/m)
  const hidden = appointmentOfLease(lease(), uuid => ({ ...changedAt(null, false)(uuid)!, name: 'n1' }))
  assert.deepEqual([hidden.summary, hidden.location], ['week 7: 1 node of class gpu', null])
  assert.match(hidden.description, /^Nodes: node-0$/m)
  assert.doesNotMatch(JSON.stringify(hidden), /n1|rack/)
})

test('the text of a large lease ends somewhere', () => {
  const { summary, description, location } = appointmentOfLease(
    lease({ reservations: [nodes(1_000)] }),
    changedAt(null),
  )
  assert.match(summary, /^week 7: node-0, node-1, node-2, node-3, node-4 and 995 more$/)
  assert.ok(description.includes(`and ${1_000 - limits.calendarNodesShown} more`))
  assert.equal(location, null)
})
