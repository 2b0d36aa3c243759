// What those who run Holdfast can ask below /holdfast/v1: who answers, and under which permission.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../process/context.ts'
import { checkEverything } from '../../measure/fsck.ts'
import type { Caller } from '../../identity/caller.ts'
import { type Action, requireAllowed } from '../policy.ts'
import { MetalRequest } from '../baremetal/request.ts'
import { NEWEST } from '../baremetal/versions.ts'
import type { Described, Operation } from '../operation.ts'
import { Count, named, Text } from '../shapes.ts'
import { explainAllocation, explainNewAllocation, postRetry } from './allocations.ts'
import { listEntries } from './audit.ts'
import { advanceClock, showClock } from './clock.ts'
import { listDocuments, showDocument } from './documents.ts'
import { explainCandidates } from './explain.ts'
import { postHypervisorState } from './hypervisor-state.ts'
import { deleteLeasableNode, getLeasableNode, getLeasableNodes, putLeasableNode } from './leasable-nodes.ts'
import { explainLeaseOf } from './leases.ts'
import type { OperatorAction } from './policy.ts'
import { deleteOneQuota, getQuota, getQuotas, putQuota } from './quotas.ts'
import {
  explainAllocationDeletion,
  explainLeaseDeletion,
  explainNewReservation,
  explainNodeDeletion,
} from './rehearsals.ts'

type Handle = (context: Context, request: FastifyRequest, caller: Caller) => object | Promise<object>

/** Where bodies may be large: ten thousand candidate nodes. */
export const BULK: ReadonlySet<string> = new Set(['/explain/allocations'])

export interface Route {
  handle: Handle
  /** The handler's name, and what it says of itself. */
  id: string
  operation: Operation
  /** Null for what everyone may read, known or not. */
  action: Action | null
  /** May the caller? depends on the thing that the request is about, so it is asked when that is found. */
  onFound: boolean
  status: 200 | 202 | 204
  /** Only there with --test-clock. */
  isForTests?: true
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const to = (handle: Described<Handle>, action: Action | null): Route => ({
  handle,
  id: handle.name,
  operation: handle.operation,
  action,
  onFound: false,
  status: 200,
})

type OfMetal = Described<(request: MetalRequest) => Promise<object>>

/** One about bare metal, in its newest words. */
const metal = (handle: OfMetal, action: Action, status: Route['status'] = 200): Route => ({
  handle: (context, raw, caller) =>
    handle(new MetalRequest(context, caller, NEWEST, { action, operation: handle.operation }, raw)),
  id: handle.name,
  operation: handle.operation,
  action,
  onFound: true,
  status,
})

/** One about bare metal that isn't there yet: whose it will be, the body says. */
const toBeMade = (handle: OfMetal, action: Action): Route => ({ ...metal(handle, action), onFound: false })

type OfIdent = Described<(context: Context, ident: string) => Promise<object | void>>

/** One about what the path names. */
const about = (handle: OfIdent, action: OperatorAction): Route => ({
  handle: async (context, { params }) => (await handle(context, (params as { ident: string }).ident)) ?? {},
  id: handle.name,
  operation: handle.operation,
  action,
  onFound: false,
  status: 200,
})

type OfProject = Described<(context: Context, project: string, request: FastifyRequest) => Promise<object | void>>

/** One about the project that the path names. */
const ofProject = (handle: OfProject, action: OperatorAction): Route => ({
  handle: async (context, request, caller) => {
    const { project } = request.params as { project: string }
    requireAllowed(context.policy, action, caller, { project })
    return (await handle(context, project, request)) ?? {}
  },
  id: handle.name,
  operation: handle.operation,
  action,
  onFound: true,
  status: 200,
})

showFsck.operation = {
  summary: 'Count the violations of each invariant: zero, always',
  answers: {
    200: named('Fsck', {
      violations: Count,
      invariants: Type.Array(Type.Object({ invariant: Text, violations: Count })),
    }),
  },
} satisfies Operation

export const routes: Record<string, Partial<Record<Method, Route>>> = {
  '/fsck': { GET: to(showFsck, 'holdfast:fsck') },
  '/audit': { GET: to(listEntries, 'holdfast:audit:list') },
  '/explain/allocation_candidates': { GET: to(explainCandidates, 'holdfast:explain:allocation_candidates') },
  '/explain/allocations/:ident': { GET: metal(explainAllocation, 'holdfast:explain:allocation') },
  // What would come of a change is for those who may make it.
  '/explain/allocations': { POST: toBeMade(explainNewAllocation, 'baremetal:allocation:create') },
  '/explain/reservations': { POST: toBeMade(explainNewReservation, 'baremetal:reservation:create') },
  '/explain/deletions/nodes/:ident': { GET: metal(explainNodeDeletion, 'baremetal:node:delete') },
  '/explain/deletions/allocations/:ident': { GET: metal(explainAllocationDeletion, 'baremetal:allocation:delete') },
  '/explain/deletions/leases/:ident': { GET: to(explainLeaseDeletion, 'blazar:leases:delete') },
  '/explain/leases': {
    GET: to(explainLeaseOf, 'holdfast:explain:lease'),
    POST: to(explainLeaseOf, 'holdfast:explain:lease'),
  },
  '/allocations/:ident/retry': { POST: metal(postRetry, 'holdfast:allocation:retry', 202) },
  '/hypervisor-state': { POST: to(postHypervisorState, 'holdfast:hypervisor_state:set') },
  '/leasable-nodes': { GET: to(getLeasableNodes, 'holdfast:leasable_nodes:get') },
  '/leasable-nodes/:ident': {
    GET: about(getLeasableNode, 'holdfast:leasable_nodes:get'),
    PUT: about(putLeasableNode, 'holdfast:leasable_nodes:set'),
    DELETE: { ...about(deleteLeasableNode, 'holdfast:leasable_nodes:set'), status: 204 },
  },
  '/quotas': { GET: to(getQuotas, 'holdfast:quotas:list') },
  '/quotas/:project': {
    GET: ofProject(getQuota, 'holdfast:quotas:get'),
    PUT: ofProject(putQuota, 'holdfast:quotas:set'),
    DELETE: { ...ofProject(deleteOneQuota, 'holdfast:quotas:set'), status: 204 },
  },
  '/openapi': { GET: to(listDocuments, null) },
  '/openapi/:api': { GET: to(showDocument, null) },
  '/clock': {
    GET: { ...to(showClock, 'holdfast:clock:get'), isForTests: true },
    POST: { ...to(advanceClock, 'holdfast:clock:set'), isForTests: true },
  },
}

async function showFsck({ store }: Context): Promise<object> {
  const findings = await checkEverything(store)
  return { violations: findings.reduce((sum, { violations }) => sum + violations, 0), invariants: findings }
}
