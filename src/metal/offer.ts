// A node in the ledger: what it offers there, and who has it.
import { claimBatch, lockInvolved } from '../ledger/claims/batch.ts'
import type { ClaimRequest, ConsumerClaims } from '../ledger/claims/claim.ts'
import { consumerClaims, type ConsumerClaim, providerClaims } from '../ledger/claims/find.ts'
import { ownConsumer, setOffer, whileUnblocked } from '../ledger/managed.ts'
import { problem } from '../problem.ts'
import { mark, type Read, type Write } from '../store/transaction.ts'
import type { View } from './access.ts'
import { findInstance, type NodeRow, OWNER } from './nodes.ts'
import { isUsable } from './states.ts'

/** Makes the ledger say what the node says. */
export function* offerNode(node: NodeRow, now: number, traits?: readonly string[]): Write<void> {
  const offer = { resourceClass: node.placement_class, blocked: !isUsable(node), ...(traits && { traits }) }
  yield* setOffer(node.uuid, OWNER, offer, now)
}

/** Who is named in claims when the object itself has no owner. */
export interface Principal {
  project: string
  user: string
}

export const NOBODY: Principal = {
  project: '00000000-0000-0000-0000-000000000000',
  user: '00000000-0000-0000-0000-000000000000',
}

/** Who has the node, as the ledger tells it. */
export function* holderOf(uuid: string): Read<string | null> {
  const { claims } = yield* providerClaims(uuid)
  return claims[0]?.consumer ?? null
}

/** Consumers are locked before providers: whoever is about to change both begins here. */
export function* lockInstance(node: NodeRow, instance: string): Write<void> {
  yield* lockInvolved([replacing(instance, NOBODY, [])], [node.uuid])
}

// Not with which node: it may be another project's.
const instanceTaken = (instance: string) =>
  problem('metal_exists', { reason: `Instance ${instance} is already associated with another node or resource.` })

export function* requireFreeInstance(instance: string, self: string): Read<void> {
  const other = yield* findInstance(instance)
  if (other && other.uuid !== self) {
    throw instanceTaken(instance)
  }
}

/** Claims the node for an instance; one that has it already keeps it, and from now on it is ours to release. */
export function* claimInstance(node: NodeRow, instance: string, who: Principal, view: View, now: number): Write<void> {
  yield* requireFreeInstance(instance, node.uuid)
  yield* lockInstance(node, instance)
  const has = yield* consumerClaims(instance)
  if (!has.some(claim => claim.provider === node.uuid)) {
    // What it has elsewhere would come under our care as well, so it must be the client's own.
    if (!view.all && has.some(claim => claim.project_id !== view.project)) throw instanceTaken(instance)
    yield* addClaim(node, instance, who, has, now)
  }
  yield* ownConsumer(instance, null, OWNER)
  yield* mark({ kind: 'consumer', id: instance })
}

function* addClaim(node: NodeRow, instance: string, who: Principal, has: readonly ConsumerClaim[], now: number) {
  const holder = yield* holderOf(node.uuid)
  if (holder !== null) {
    throw problem('node_refuses', {
      reason: `Node ${node.uuid} is claimed by consumer ${holder} and can not be given to ${instance}.`,
    })
  }
  const more = { provider: node.uuid, resource_class: node.placement_class, used: 1 }
  const request = replacing(instance, has.length > 0 ? ownerOf(has) : who, [...has, more])
  const claiming = claimBatch([request], now)
  const [refusal] = yield* whileUnblocked(node.provider_id, !isUsable(node), claiming)
  if (refusal) throw refusal
}

/** Ends the instance's claim on the node; what else the consumer has is Placement's again. */
export function* releaseInstance(node: NodeRow, instance: string, now: number): Write<void> {
  const has = yield* consumerClaims(instance)
  const rest = has.filter(claim => claim.provider !== node.uuid)
  const request: ClaimRequest =
    rest.length === 0
      ? { kind: 'release', consumer: instance, owner: OWNER }
      : { ...replacing(instance, ownerOf(rest), rest), owner: OWNER }
  const [refusal] = yield* claimBatch([request], now)
  if (refusal && refusal.kind !== 'consumer_without_claims') throw refusal
  if (rest.length > 0) yield* ownConsumer(instance, OWNER, null)
  yield* mark({ kind: 'consumer', id: instance })
}

type Has = Pick<ConsumerClaim, 'provider' | 'resource_class' | 'used'>

const ownerOf = ([claim]: readonly ConsumerClaim[]): Principal => ({ project: claim!.project_id, user: claim!.user_id })

function replacing(consumer: string, who: Principal, has: readonly Has[]): ClaimRequest & { kind: 'replace' } {
  const resources = new Map<string, Map<string, number>>()
  for (const { provider, resource_class, used } of has) {
    resources.getOrInsertComputed(provider, () => new Map()).set(resource_class, used)
  }
  const claims: ConsumerClaims = {
    consumer,
    projectId: who.project,
    userId: who.user,
    type: 'INSTANCE',
    generation: undefined,
    resources,
  }
  return { kind: 'replace', consumers: [claims], owner: null }
}
