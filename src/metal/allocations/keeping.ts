// Kept allocations: a command of the keeper runs on the node. Until expires_at nobody else gets the node, unless the
// keeper lets go of it, or an admin takes it at once.
import { problem } from '../../problems/problem.ts'
import type { AllocationId, NodeId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { one, type Read, run, type Write } from '../../store/transaction.ts'
import type { AllocationRow } from './rows.ts'

type Kept = Pick<
  AllocationRow,
  'uuid' | 'state' | 'keeper' | 'expires_at' | 'ending_by' | 'ending_at' | 'ending_message'
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

/** Whether the keeper may still be on the node. */
const isKept = ({ state, keeper, expires_at }: Omit<Kept, 'uuid'>, now: number): boolean =>
  state === 'active' && keeper !== null && expires_at !== null && expires_at > now

/** The part of the keeper that everyone may see. The rest is the proof. */
export const keeperName = (keeper: string): string => keeper.slice(0, keeper.lastIndexOf('/'))

const instant = (at: number) => new Date(at).toISOString()

/** Refuses a proof that isn't the keeper's. A wrong one is a mistake, and must not be taken for a wish to end it. */
function requireKeeper({ uuid, keeper }: Kept, given: string | null): void {
  if (given !== null && given !== keeper)
    throw problem('node_refuses', { reason: `Allocation ${uuid} has another keeper.` })
}

/**
 * Whether the allocation ends now. If it is kept by someone else, writes down who wants its end, and the keeper is to
 * end it before expires_at, which stays as it is from now on.
 */
export function* mayEnd(row: AllocationRow, farewell: Farewell, now: number): Write<boolean> {
  const { by, message, keeper, isNow } = farewell
  requireKeeper(row, keeper)
  if (isNow || keeper !== null || !isKept(row, now)) return true
  yield* run(noteEnding({ id: row.id, by, message, now }))
  return false
}

/** Refuses a new end that breaks a promise: only the keeper may shorten, and nobody may extend what someone ends. */
export function requireKeptPromise(present: Kept, expiresAt: number | null, keeper: string | null, now: number): void {
  requireKeeper(present, keeper)
  if (present.keeper === null || expiresAt === present.expires_at) return
  const { uuid, ending_by, ending_message } = present
  if (expiresAt === null) {
    throw problem('invalid_parameter', { reason: `Allocation ${uuid} has a keeper, so it needs its expires_at.` })
  }
  if (!isKept(present, now)) return
  const isShorter = expiresAt < present.expires_at!
  if (isShorter && keeper === null) throw kept(present)
  if (ending_by !== null && !isShorter) {
    const why = ending_message === null ? '' : `: ${ending_message}`
    throw problem('node_refuses', {
      reason: `${ending_by} ends allocation ${uuid}${why}. It lasts until ${instant(present.expires_at!)} and can't be renewed.`,
    })
  }
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

const kept = ({ uuid, keeper, expires_at }: Pick<Kept, 'uuid' | 'keeper' | 'expires_at'>) =>
  problem('node_refuses', {
    reason: `Allocation ${uuid} is kept by ${keeperName(keeper!)} until ${instant(expires_at!)}. To ask for its end, delete it.`,
  })
