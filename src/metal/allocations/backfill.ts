// Allocations without a search: of a node that is deployed already, or that a lease has promised.
import { Problem, problem } from '../../problems/problem.ts'
import { EMPTY, jsonText } from '../../shared/json.ts'
import { one, type Read, type Write, wake } from '../../store/transaction.ts'
import { type Access, EVERYTHING, seeing } from '../access.ts'
import {
  type Allocation,
  allocationByNode,
  type AllocationRequest,
  columnsOf,
  insertAllocation,
  markGiven,
  requireFreeAllocationNames,
  withTraits,
} from './rows.ts'
import type { Drivers } from '../drivers/registry.ts'
import { handOver } from '../nodes/hand-over.ts'
import { lockNode, type NodeRow, saveNode } from '../nodes/rows.ts'
import {
  claimNode,
  type Principal,
  releaseInstance,
  requireFreeInstance,
  takeNode,
  withoutAllocatedTraits,
} from '../nodes/provider.ts'
import { leasedTo, unleased } from '../nodes/lease-promise.ts'
import { traitsOfProviders } from '../nodes/traits.ts'
import { called } from '../called.ts'

/** Creates an active allocation for a node that is deployed already. */
export function* backfill(
  wanted: AllocationRequest,
  ident: string,
  access: Access,
  who: Principal,
  now: number,
): Write<Allocation> {
  const node = yield* lockedForBackfill(ident, access)
  const uuid = node.instance_uuid ?? wanted.uuid
  yield* requireBackfillable(node, wanted)
  yield* requireFreeAllocationNames({ uuid, name: wanted.name }, node.instance_uuid)
  if (node.instance_uuid === null) yield* requireFreeInstance(uuid, node.uuid, now)
  const row = {
    ...columnsOf({ ...wanted, uuid }, who, now),
    resource_class: wanted.resourceClass ?? node.resource_class!,
    candidate_nodes: jsonText([]),
    node_id: node.id,
    state: 'active' as const,
    started_at: now,
    conductor_affinity: '',
  }
  const claimant = { consumer: uuid, type: 'ALLOCATION', project: row.project_id, user: who.user } as const
  yield* claimNode(node, { ...claimant, view: access.view }, now)
  const { id } = (yield* one(insertAllocation(row)))!
  yield* markGiven(row, node, 'allocation')
  if (row.expires_at !== null) yield* wake('expiry')
  yield* saveNode(node, {
    ...node,
    instance_uuid: uuid,
    instance_info: withTraits(node, wanted.traits),
    updated_at: now,
  })
  return { ...row, id, node_uuid: node.uuid }
}

function* lockedForBackfill(ident: string, access: Access) {
  try {
    return yield* lockNode(ident, seeing(access))
  } catch (error) {
    if (error instanceof Problem && error.kind === 'metal_not_found') {
      throw problem('invalid_parameter', { reason: `Node ${ident} could not be found.` })
    }
    throw error
  }
}

function* requireBackfillable(node: NodeRow, wanted: AllocationRequest): Read<void> {
  const refuse = (reason: string) =>
    problem('node_refuses', { reason: `Node ${called(node)} can not be backfilled: ${reason}.` })
  if (node.provision_state !== 'active') throw refuse(`it is in state "${node.provision_state}", not "active"`)
  if (yield* one(allocationByNode({ node: node.id, ...EVERYTHING.view }))) throw refuse('it has an allocation already')
  if (node.resource_class === null) throw refuse('it has no resource class')
  if (wanted.resourceClass !== null && wanted.resourceClass !== node.resource_class)
    throw refuse(`its resource class is ${node.resource_class}`)
  if (node.instance_uuid !== null && wanted.givenUuid !== null && wanted.givenUuid !== node.instance_uuid)
    throw refuse(`its instance is ${node.instance_uuid}, which would be the UUID of the allocation`)
  const has = (yield* traitsOfProviders([node.provider_id])).get(node.provider_id) ?? []
  const missing = wanted.traits.filter(trait => !has.includes(trait))
  if (missing.length > 0) throw refuse(`it lacks ${missing.join(', ')}`)
}

interface Gift {
  uuid: string
  owner: string
  user: string
  traits: readonly string[]
}

/** Gives an open node to the project that a lease promised it to. The project becomes the node's lessee. */
export function* giveNode(
  node: NodeRow,
  { uuid, owner, user, traits }: Gift,
  drivers: Drivers,
  now: number,
): Write<void> {
  const { view } = EVERYTHING
  yield* takeNode(node, { consumer: uuid, type: 'ALLOCATION', project: owner, user, view }, now)
  const none = {
    name: null,
    request_id: null,
    last_error: null,
    reasons: null,
    wait_until: null,
    expires_at: null,
    updated_at: null,
    keeper: null,
    planned_end: null,
    note: null,
  }
  const given = { uuid, owner, project_id: owner, user_id: user, traits: jsonText(traits), extra: EMPTY }
  const place = {
    resource_class: node.resource_class!,
    candidate_nodes: jsonText([]),
    node_id: node.id,
    conductor_affinity: '',
  }
  const row = { ...none, ...given, ...place, state: 'active', created_at: now, started_at: now } as const
  yield* one(insertAllocation(row))
  yield* markGiven(row, node, 'lease')
  const instance_info = withTraits(node, traits)
  const after = { ...node, ...leasedTo(node, owner), instance_uuid: uuid, instance_info, updated_at: now }
  yield* saveNode(node, after)
  yield* handOver({ ...after, revision: node.revision + 1 }, drivers, null, now)
}

/** Undoes `giveNode` and returns the changed node. A machine on the node stays there. */
export function* takeNodeBack(node: NodeRow, now: number): Write<NodeRow> {
  if (node.instance_uuid !== null) yield* releaseInstance(node, node.instance_uuid, 'lease', now)
  const instance_info = withoutAllocatedTraits(node)
  const after = { ...node, ...unleased(node), instance_uuid: null, instance_info, updated_at: now }
  yield* saveNode(node, after)
  return { ...after, revision: node.revision + 1 }
}
