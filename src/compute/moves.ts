// Moves of servers. A move is a consumer of its own: in one claim it takes over the server's old claims, and the server
// claims its new host. So nothing gets in between, the way back stays open, and ending the move frees the old host.
import { claimBatch } from '../ledger/claims/batch.ts'
import type { ConsumerClaims, Resources } from '../ledger/claims/claim.ts'
import { consumerClaims } from '../ledger/claims/find.ts'
import { problem } from '../problems/problem.ts'
import { withinQuota } from '../quotas/within.ts'
import { jsonText } from '../shared/json.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import { one, type Read, run, type Write, wake } from '../store/transaction.ts'
import { addMove, changeMove, finishedMove, type Move, type MoveKind, type MoveRow, moveStatus } from './move-rows.ts'
import type { Place } from './scheduler.ts'
import { findServer, lockServer, OWNER, release, saveServer, type Server, type Status } from './servers.ts'
import type { Wish } from './wishes.ts'

export interface MoveRequest {
  /** The move's own uuid, as a consumer. */
  uuid: string
  server: string
  visibleTo: string | null
  kind: MoveKind
  /** Another size; null keeps the server as it is. */
  resize: { flavorId: string; wish: Wish } | null
}

/** What a move of each kind waits for when the claims have been swapped. */
const AFTER_SWAP = {
  // For its owner, who confirms or reverts it.
  migration: { move: 'finished', status: 'VERIFY_RESIZE', task: null },
  resize: { move: 'finished', status: 'VERIFY_RESIZE', task: null },
  // For the fake virt driver, which has nothing to copy.
  'live-migration': { move: 'running', status: null, task: 'migrating' },
  // For the old host to come back: until then nobody knows what still runs there.
  evacuation: { move: 'done', status: null, task: null },
} as const satisfies Record<MoveKind, { move: MoveRow['status']; status: Status | null; task: Server['task'] }>

const MOVABLE: Record<MoveKind, readonly Status[]> = {
  migration: ['ACTIVE', 'SHUTOFF'],
  resize: ['ACTIVE', 'SHUTOFF'],
  'live-migration': ['ACTIVE'],
  evacuation: ['ACTIVE', 'SHUTOFF', 'ERROR'],
}
const ACTION: Record<MoveKind, string> = {
  migration: 'migrate',
  resize: 'resize',
  'live-migration': 'os-migrateLive',
  evacuation: 'evacuate',
}

/** Refuses a move that the server's state doesn't allow. */
export function requireMovable(server: Server, kind: MoveKind): void {
  const refuse = (attribute: string, state: string) =>
    problem('server_state_refused', { server: server.uuid, action: ACTION[kind], attribute, state })
  if (server.is_metal) {
    throw problem('compute_invalid', { reason: `Instance ${server.uuid} is on bare metal and can not be moved.` })
  }
  if (server.task !== null) throw refuse('task_state', server.task)
  if (!MOVABLE[kind].includes(server.status) || server.host_id === null)
    throw refuse('vm_state', vmState(server.status))
}

const VM_STATES: Record<Status, string> = {
  BUILD: 'building',
  ACTIVE: 'active',
  SHUTOFF: 'stopped',
  VERIFY_RESIZE: 'resized',
  ERROR: 'error',
}
export const vmState = (status: Status): string => VM_STATES[status]

/** Swaps the claims: the move gets what the server had, the server the new place. False when the place is taken. */
export function* moveTo(place: Place, request: MoveRequest, sourceId: ProviderId, now: number): Write<boolean> {
  const server = yield* lockServer(request.server, request.visibleTo)
  requireMovable(server, request.kind)
  if (server.host_id !== sourceId) throw problem('server_state_refused', movedMeanwhile(server, request.kind))
  const had = yield* claimsOf(server.uuid)
  const moving = { ...claimsFor(server, request.uuid, had), type: 'MIGRATION', generation: null }
  if (!(yield* claimTogether([claimsFor(server, server.uuid, place.claims), moving], now))) return false
  const after = AFTER_SWAP[request.kind]
  yield* run(
    addMove({
      uuid: request.uuid,
      server_id: server.id,
      kind: request.kind,
      status: after.move,
      source_id: server.host_id,
      target_id: place.host.id,
      flavor_before: server.flavor_id,
      wish_before: server.wish,
      status_before: server.status,
      created_at: now,
      updated_at: now,
    }),
  )
  yield* saveServer(server, {
    ...server,
    ...(request.resize && { flavor_id: request.resize.flavorId, wish: jsonText(request.resize.wish) }),
    host_id: place.host.id,
    status: after.status ?? server.status,
    task: after.task,
    updated_at: now,
  })
  if (request.kind === 'live-migration') yield* wake('servers')
  return true
}

const movedMeanwhile = ({ uuid }: Server, kind: MoveKind) => ({
  server: uuid,
  action: ACTION[kind],
  attribute: 'task_state',
  state: 'migrating',
})

/** The owner confirms the move: releases the old claims. */
export function* confirmMove(uuid: string, visibleTo: string | null, now: number): Write<void> {
  const { server, move } = yield* lockMoved(uuid, visibleTo, 'confirmResize')
  yield* confirm(server, move, now)
}

function* confirm(server: Server, move: MoveRow, now: number): Write<void> {
  yield* release([move.uuid], now)
  yield* run(changeMove({ id: move.id, status: 'confirmed', now }))
  yield* saveServer(server, { ...server, status: move.status_before as Status, updated_at: now })
}

/** Moves the server back: the claims of the move become the server's again. */
export function* revertMove(uuid: string, visibleTo: string | null, now: number): Write<void> {
  const { project_id } = yield* findServer(uuid, visibleTo)
  // The server may have been larger before, so the quota applies.
  yield* withinQuota({ project: project_id, kinds: ['servers'], now }, () => revert(uuid, visibleTo, now))
}

function* revert(uuid: string, visibleTo: string | null, now: number): Write<void> {
  const { server, move } = yield* lockMoved(uuid, visibleTo, 'revertResize')
  const had = yield* claimsOf(move.uuid)
  const ended = { ...claimsFor(server, move.uuid, new Map()), type: 'MIGRATION' }
  if (!(yield* claimTogether([claimsFor(server, server.uuid, had), ended], now))) {
    throw problem('no_valid_host', { reason: 'The former host has changed and can not take the instance back.' })
  }
  yield* run(changeMove({ id: move.id, status: 'reverted', now }))
  yield* saveServer(server, {
    ...server,
    flavor_id: move.flavor_before,
    wish: move.wish_before,
    host_id: move.source_id,
    status: move.status_before as Status,
    updated_at: now,
  })
}

/** Confirms a move that its owner has not reverted in time. */
export function* confirmIfLate(move: Move, now: number): Write<void> {
  const server = yield* lockServer(move.server, null)
  if (yield* isStill(move)) yield* confirm(server, move, now)
}

/** Frees the old host. */
export function* completeMove(move: Move, now: number): Write<void> {
  const server = yield* lockServer(move.server, null)
  if (!(yield* isStill(move))) return
  yield* release([move.uuid], now)
  yield* run(changeMove({ id: move.id, status: 'completed', now }))
  if (server.task === 'migrating') yield* saveServer(server, { ...server, task: null, updated_at: now })
}

/** Ends a move whose old place is withdrawn, in any state. The server stays where it is now. */
export function* endMove(move: Move, now: number): Write<void> {
  yield* move.status === 'finished' ? confirmIfLate(move, now) : completeMove(move, now)
}

/** Whether nobody else has ended the move meanwhile. */
function* isStill({ id, status }: MoveRow): Read<boolean> {
  return (yield* one(moveStatus({ id })))?.status === status
}

function* lockMoved(uuid: string, visibleTo: string | null, action: string): Write<{ server: Server; move: Move }> {
  const server = yield* lockServer(uuid, visibleTo)
  const move = yield* one(finishedMove({ server: server.id }))
  if (server.status !== 'VERIFY_RESIZE' || !move) {
    throw problem('server_state_refused', {
      server: uuid,
      action,
      attribute: 'vm_state',
      state: vmState(server.status),
    })
  }
  return { server, move }
}

function* claimsOf(consumer: string): Read<Resources> {
  const resources = new Map<string, Map<string, number>>()
  for (const { provider, resource_class, used } of yield* consumerClaims(consumer)) {
    resources.getOrInsertComputed(provider, () => new Map()).set(resource_class, used)
  }
  return resources
}

function claimsFor(server: Server, consumer: string, resources: Resources): ConsumerClaims {
  const { project_id, user_id } = server
  return { consumer, projectId: project_id, userId: user_id, type: 'INSTANCE', generation: undefined, resources }
}

/** All of them in one claim, or none; says whether it was granted. */
function* claimTogether(consumers: readonly ConsumerClaims[], now: number): Write<boolean> {
  const [refusal] = yield* claimBatch([{ kind: 'replace', consumers, owner: OWNER }], now)
  return refusal === null
}
