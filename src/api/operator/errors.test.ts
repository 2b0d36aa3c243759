import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LEASE_PROBLEMS } from '../../problems/leases.ts'
import { METAL_PROBLEMS } from '../../problems/metal.ts'
import type { Problem, ProblemKind } from '../../problems/problem.ts'
import { renderError as inMetal } from '../baremetal/errors.ts'
import { renderError as inReservation } from '../reservation/errors.ts'
import { renderError } from './errors.ts'

/** Refusals of the ledger that a change of a node or a lease may meet. */
const LEDGER: readonly ProblemKind[] = [
  'provider_exists',
  'provider_in_use',
  'provider_has_children',
  'inventory_in_use',
  'consumer_managed',
  'claim_exceeds_capacity',
  'claim_on_dedicated_provider',
  'class_managed',
  'class_in_use',
  'quota_exceeded',
  'quota_too_long',
]

const request = { id: 'req', isServed: true, negotiated: null } as never
const refused = (kind: ProblemKind) =>
  ({ kind, message: 'no', details: { reasons: [], windows: [], until_at: null, most: [] } }) as unknown as Problem

test('a dry run is refused with the status of the real change', () => {
  const metal = [...(Object.keys(METAL_PROBLEMS) as ProblemKind[]), ...LEDGER]
  const leases = [...(Object.keys(LEASE_PROBLEMS) as ProblemKind[]), ...LEDGER]
  const differ = [
    ...metal.map(kind => ({ kind, real: inMetal(refused(kind), request).status })),
    ...leases.map(kind => ({ kind, real: inReservation(refused(kind), request).status })),
  ]
    // What a room doesn't know it doesn't throw, and dry runs speak one version only.
    .filter(({ kind, real }) => real !== 500 && real !== 406 && renderError(refused(kind), request).status !== real)
  assert.deepEqual(differ, [])
})
