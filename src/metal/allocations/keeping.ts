// Kept allocations: a command of the keeper runs on the node. Until expires_at nobody else gets the node, unless the
// keeper lets go of it, or an admin takes it at once.
import { called } from '../called.ts'
import { problem } from '../../problems/problem.ts'
import type { AllocationId, NodeId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { timeOf } from '../../events/subject.ts'
import { mark, one, type Read, run, type Write } from '../../store/transaction.ts'
import { allocationBecame, type AllocationRow } from './rows.ts'

type Kept = Pick<
  AllocationRow,
  'uuid' | 'name' | 'state' | 'keeper' | 'expires_at' | 'kept_until' | 'ending_by' | 'ending_at' | 'ending_message'
>

const ofNode = query((db, a: { node: NodeId }) =>
  db.selectFrom('allocations').selectAll().where('node_id', '=', a.node),
)
const noteEnding = command((db, a: { id: AllocationId; by: string; message: string | null; now: number }) =>
  db
    .updateTable('allocations')
    .set({ ending_by: a.by, ending_at: a.now, ending_message: a.message, updated_at: a.now })
    .where('id', '=', a.id)
    .where('ending_at', 'is', null),
)

const unkeep = command((db, a: { id: AllocationId; now: number }) =>
  db
    .updateTable('allocations')
    .set({
      keeper: null,
      kept_until: null,
      planned_end: null,
      ending_by: null,
      ending_at: null,
      ending_message: null,
      updated_at: a.now,
    })
    .where('id', '=', a.id),
)

/** How a client ends an allocation. */
export interface Farewell {
  /** Who ends it, as people know them. */
  by: string
  message: string | null
  /** The proof that the caller is the keeper. */
  keeper: string | null
  /** Ends it at once, even if it is kept. */
  isNow: boolean
}

/** Until when the keeper may be on the node. What a lease gives has no end of its own, so that is told apart. */
export const keptUntil = ({ kept_until, expires_at }: Pick<AllocationRow, 'kept_until' | 'expires_at'>) =>
  kept_until ?? expires_at

/** Whether the keeper may still be on the node. */
export const isKept = (row: Omit<Kept, 'uuid'>, now: number): boolean =>
  row.state === 'active' && row.keeper !== null && (keptUntil(row) ?? 0) > now

/** The part of the keeper that everyone may see. The rest is the proof. */
export const keeperName = (keeper: string): string => keeper.slice(0, keeper.lastIndexOf('/'))

const instant = (at: number) => new Date(at).toISOString()

/** Refuses a proof that isn't the keeper's. A wrong one is a mistake, and must not be taken for a wish to end it. */
function requireKeeper(present: Kept, given: string | null): void {
  if (given !== null && given !== present.keeper)
    throw problem('node_refuses', { reason: `Allocation ${called(present)} has another keeper.` })
}

/**
 * Whether the allocation ends now. If it is kept by someone else, writes down who wants its end, and the keeper is to
 * end it before expires_at, which stays as it is from now on.
 */
export function* mayEnd(row: AllocationRow, farewell: Farewell, now: number): Write<boolean> {
  const { by, message, keeper, isNow } = farewell
  requireKeeper(row, keeper)
  if (isNow || keeper !== null || !isKept(row, now)) return true
  yield* askKeeper(row, { by, message }, now)
  return false
}

/** Writes down who wants the end, which tells the keeper. Whoever came first counts. */
export function* askKeeper(
  row: AllocationRow,
  { by, message }: Pick<Farewell, 'by' | 'message'>,
  now: number,
): Write<void> {
  if ((yield* run(noteEnding({ id: row.id, by, message, now }))) === 0) return
  const until = timeOf(keptUntil(row))
  const data = { until, keeper: keeperName(row.keeper!), ending_by: by, reason: message }
  yield* mark(allocationBecame(row, 'ending', data))
}

/** The keeper of a lease's allocation lets go; the allocation stays with the lease. */
export function* letGoOfLeased(row: AllocationRow, now: number): Write<void> {
  yield* run(unkeep({ id: row.id, now }))
  yield* mark(allocationBecame(row, 'changed'))
}

/** Refuses a new end that breaks a promise: only the keeper may shorten, and nobody may extend what someone ends. */
export function requireKeptPromise(present: Kept, expiresAt: number | null, keeper: string | null, now: number): void {
  requireKeeper(present, keeper)
  if (present.keeper === null || expiresAt === present.expires_at) return
  if (expiresAt === null) {
    throw problem('invalid_parameter', {
      reason: `Allocation ${called(present)} has a keeper, so it needs its expires_at.`,
    })
  }
  // Also when its time is over: it may be a while until it can be ended, and that must not be put off for another term.
  if (expiresAt > present.expires_at!) requireNotEnding(present)
  else if (keeper === null && isKept(present, now)) throw kept(present)
}

/** Refuses to renew what someone ends. */
export function requireNotEnding(present: Kept): void {
  const { ending_by, ending_message } = present
  if (ending_by === null) return
  const why = ending_message === null ? '' : `: ${ending_message}`
  throw problem('node_refuses', {
    reason: `${ending_by} ends allocation ${called(present)}${why}. It lasts until ${instant(keptUntil(present)!)} and can't be renewed.`,
  })
}

/** The allocation that keeps this node, or null. Under the node's lock. */
export function* keptOn(node: NodeId, now: number): Read<AllocationRow | null> {
  const found = yield* one(ofNode({ node }))
  return found && isKept(found, now) ? found : null
}

/** Refuses to take the node from its keeper. */
export function* requireNotKept(node: NodeId, now: number): Read<void> {
  const found = yield* keptOn(node, now)
  if (found) throw kept(found)
}

/** Says no name of the allocation: whoever wants the node may be of another project. */
export const kept = (row: Pick<Kept, 'uuid' | 'keeper' | 'expires_at' | 'kept_until'>) =>
  problem('node_refuses', {
    reason: `Allocation ${row.uuid} is kept by ${keeperName(row.keeper!)} until ${instant(keptUntil(row)!)}. To ask for its end, delete it.`,
  })
