// Creates, changes and deletes nodes, and sets their maintenance. A node and its provider in the ledger change in one
// transaction.
import { giveUpProvider, takeBackProvider } from '../../ledger/managed.ts'
import { createProvider } from '../../ledger/new-provider.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn, WORDS } from '../../shared/json.ts'
import { one, type Write } from '../../store/transaction.ts'
import { type Access, EVERYTHING } from '../access.ts'
import { requireDeallocatable } from '../allocations/ending.ts'
import { allocationByNode } from '../allocations/rows.ts'
import { attributesOf, BLANK, checkAttributes, columnsOf, requireFlagsOfReasons } from './attributes.ts'
import { chassisId } from '../chassis.ts'
import { requireConductor } from '../conductors/rows.ts'
import type { Json } from '../drivers/port.ts'
import type { Drivers } from '../drivers/registry.ts'
import { holdOn } from '../holds/lookup.ts'
import { applyPatches, type Patch } from '../json-patch.ts'
import {
  addNode,
  dropNode,
  findNode,
  HIDDEN,
  lockNode,
  type Node,
  type NodeRow,
  OWNER,
  requireChildless,
  requireFreeNames,
  requireParent,
  requireUnlocked,
  saveNode,
} from './rows.ts'
import {
  claimInstance,
  heldBy,
  holderOf,
  lockInstance,
  syncProvider,
  type Principal,
  releaseHold,
  releaseInstance,
  releaseLapsedHold,
  requireFreeInstance,
  withoutAllocatedTraits,
} from './provider.ts'
import { letGo, requireOwnEnd, requireUnbooked } from './lease-promise.ts'
import { DELETABLE, FREE_TO_CHANGE } from './states.ts'
import { called } from '../called.ts'

const refuse = (reason: string) => problem('node_refuses', { reason })

interface NewNodeRequest {
  uuid: string
  attributes: Json
  state: 'enroll' | 'available'
}

export function* createNode(wanted: NewNodeRequest, drivers: Drivers, who: Principal, now: number): Write<Node> {
  const { uuid, attributes, state } = wanted
  checkAttributes(attributes)
  requireFlagsOfReasons(Object.keys(attributes), attributes)
  const columns = columnsOf(attributes, drivers)
  const conductor = yield* requireConductor(columns.driver, columns.conductor_group)
  yield* requireFreeNames(uuid, columns.name, null)
  if (columns.instance_uuid !== null) yield* requireFreeInstance(columns.instance_uuid, uuid, now)
  yield* requireParent(columns.parent_node, uuid, EVERYTHING)
  const chassis_id = yield* chassisId(attributes['chassis_uuid'])
  const provider =
    (yield* takeBackProvider(uuid, OWNER)) ??
    (yield* createProvider({ uuid, name: uuid, parentUuid: null, managedBy: OWNER }, now))
  const row = {
    ...HIDDEN,
    ...BLANK,
    ...columns,
    uuid,
    provider_id: provider.id,
    chassis_id,
    conductor,
    provision_state: state,
    created_at: now,
    // Higher than any revision of an earlier node with this uuid, even if that one changed often within a millisecond.
    revision: now * 1_000,
  }
  const id = yield* addNode(row)
  yield* syncProvider({ ...row, id }, now)
  const claimant = { ...ownerOr(row, who), view: EVERYTHING.view }
  if (row.instance_uuid !== null) yield* claimInstance({ ...row, id }, row.instance_uuid, claimant, now)
  return yield* findNode(uuid, EVERYTHING)
}

/** The node's owner, if it has one, counts instead of the caller's project. */
const ownerOr = ({ owner }: Pick<NodeRow, 'owner'>, who: Principal): Principal => ({
  ...who,
  project: owner ?? who.project,
})

/** Access to the node, and to its allocation: removing `instance_uuid` ends the allocation. */
interface PatchAccess {
  readonly node: Access
  readonly allocation: Access
}

/** Returns the node's uuid. */
export function* patchNode(
  ident: string,
  access: PatchAccess,
  patches: readonly Patch[],
  drivers: Drivers,
  who: Principal,
  now: number,
): Write<string> {
  const node = yield* lockNode(ident, access.node)
  yield* releaseLapsedHold(node, now)
  // In maintenance an instance may be let go whatever becomes of the machine, as by the DELETE of an allocation.
  if (node.maintenance === 0 || !isLettingGo(patches)) requireChangeable(node)
  if (patches.length === 0) return node.uuid
  const attributes = applyPatches(attributesOf(node), withDriversDefaults(node, patches))
  checkAttributes(attributes)
  requireFlagsOfReasons(new Set(patches.map(({ path }) => path[0])), attributes)
  const columns = columnsOf(attributes, drivers)
  requireAllowed(node, columns)
  if (columns.driver !== node.driver || columns.conductor_group !== node.conductor_group) {
    yield* requireConductor(columns.driver, columns.conductor_group)
  }
  if (columns.name !== node.name) yield* requireFreeNames(node.uuid, columns.name, node.uuid)
  if (columns.parent_node !== node.parent_node) yield* requireParent(columns.parent_node, node.uuid, access.node)
  const chassis_id = yield* chassisId(attributes['chassis_uuid'])
  const maintenance_reason = columns.maintenance ? node.maintenance_reason : null
  const fault = columns.maintenance === node.maintenance ? node.fault : null
  const after: Node = { ...node, ...columns, chassis_id, maintenance_reason, fault, updated_at: now }
  if (node.instance_uuid !== null && after.instance_uuid === null) {
    yield* requireEnd(node, access.allocation)
    requireOwnEnd(node)
    yield* releaseInstance(node, node.instance_uuid, 'instance_removed', now)
    Object.assign(after, letGo(node))
    if (node.allocation_uuid !== null && after.instance_info === node.instance_info)
      after.instance_info = withoutAllocatedTraits(node)
  } else if (after.instance_uuid !== null) yield* lockInstance(node, after.instance_uuid, now)
  // First the class, then the claim: the claim must be on the new class.
  yield* syncProvider(after, now)
  if (node.instance_uuid === null && after.instance_uuid !== null) {
    yield* claimInstance(after, after.instance_uuid, { ...ownerOr(after, who), view: access.node.view }, now)
  }
  yield* saveNode(node, after)
  return node.uuid
}

/**
 * An instance that someone set by hand may go in any state. One that is an allocation ends where DELETE would end it.
 * Owner and lessee share the node, but neither may end the other's allocation.
 */
function* requireEnd(node: Node, { permit }: Access): Write<void> {
  const allocation = yield* one(allocationByNode({ node: node.id, ...EVERYTHING.view }))
  if (!allocation) return
  permit({ project: allocation.owner })
  requireDeallocatable(allocation, node)
}

/** Whether the patch only takes the instance away. */
const isLettingGo = ([patch, ...more]: readonly Patch[]): boolean =>
  patch !== undefined &&
  more.length === 0 &&
  patch.path.join('/') === 'instance_uuid' &&
  (patch.op === 'remove' || patch.value === null)

function requireChangeable(node: Node): void {
  requireUnlocked(node)
  if (node.transition !== null && node.provision_state !== 'inspect wait') {
    throw refuse(`Node ${called(node)} can not be updated while a state transition is in progress.`)
  }
}

/** A new driver resets the interfaces to its defaults, except those in the same patch. */
function withDriversDefaults(node: Node, patches: readonly Patch[]): readonly Patch[] {
  const driver = patches.findLast(({ path }) => path[0] === 'driver')
  if (!driver || driver.value === node.driver) return patches
  const reset = Object.keys(jsonIn(node.interfaces, WORDS)).map((name): Patch => ({
    op: 'remove',
    path: [`${name}_interface`],
    value: undefined,
  }))
  return [...reset, ...patches]
}

type Columns = ReturnType<typeof columnsOf>

function requireAllowed(node: Node, after: Columns): void {
  const state = node.provision_state
  const isFree = FREE_TO_CHANGE.has(state)
  const inState = `Node ${called(node)} can not be changed in this while it is in state "${state}":`
  if (after.resource_class !== node.resource_class && !isFree) throw refuse(`${inState} resource_class`)
  if (after.resource_class !== node.resource_class) requireUnbooked(node, 'resource_class')
  const interfacesChange = after.interfaces !== node.interfaces || after.driver !== node.driver
  if (interfacesChange && !isFree && !node.maintenance) throw refuse(`${inState} driver and interfaces`)
  if (after.protected && !node.protected && state !== 'active' && state !== 'rescue')
    throw refuse(`${inState} protected`)
  if (after.retired && !node.retired && state === 'available') throw refuse(`${inState} retired`)
  const [had, has] = [node.instance_uuid, after.instance_uuid]
  if (had !== null && has !== null && had !== has) {
    throw refuse(`Node ${called(node)} is already associated with instance ${had}.`)
  }
}

/** Switches maintenance on or off, at once and in any state. */
export function* setMaintenance(
  ident: string,
  access: Access,
  reason: string | null | false,
  now: number,
): Write<void> {
  const node = yield* lockNode(ident, access)
  const set: Pick<NodeRow, 'maintenance' | 'maintenance_reason'> =
    reason === false ? { maintenance: 0, maintenance_reason: null } : { maintenance: 1, maintenance_reason: reason }
  // A person's word: the maintenance that we set for a fault is theirs from now on, and we don't end it.
  const after: NodeRow = { ...node, ...set, fault: null, updated_at: now }
  yield* saveNode(node, after)
  yield* syncProvider(after, now)
}

export function* deleteNode(ident: string, access: Access, now: number): Write<void> {
  const node = yield* lockNode(ident, access)
  yield* releaseLapsedHold(node, now)
  requireUnlocked(node)
  if (node.protected) throw problem('node_protected', { node: called(node), action: 'deleted' })
  if (node.leasable) throw refuse(`Node ${called(node)} is enrolled for leasing.`)
  yield* requireChildless(node)
  if (!node.maintenance) {
    if (node.instance_uuid !== null) {
      throw refuse(`Node ${called(node)} is associated with instance ${node.instance_uuid}.`)
    }
    if (!DELETABLE.has(node.provision_state)) {
      throw refuse(`Can not delete node "${called(node)}" while it is in provision state "${node.provision_state}".`)
    }
  }
  if (node.instance_uuid !== null) yield* releaseInstance(node, node.instance_uuid, 'node_deleted', now)
  else if (node.maintenance) yield* releaseHold(node, now)
  const hold = yield* holdOn(node.id, now)
  if (hold) throw heldBy(node, hold, access.view)
  const holder = yield* holderOf(node, now)
  if (holder) throw refuse(`Node ${called(node)} is claimed by consumer ${holder}, who must release it first.`)
  yield* dropNode(node)
  yield* giveUpProvider(node.uuid, OWNER, now)
}

/** A uuid that the client gave, or a new one. */
export const uuidOr = (given: unknown, newUuid: () => string): string =>
  typeof given === 'string' ? (canonicalUuid(given) ?? given) : newUuid()
