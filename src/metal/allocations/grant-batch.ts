// Creates allocations that have their nodes at once: many in one transaction, each with a node chosen in memory.
// Memory may be stale, so all is checked again under lock. Who gets nothing here is asked for in the usual way.
import { recordAll } from '../../audit/record.ts'
import { collected } from '../../audit/collected.ts'
import { sql } from 'kysely'
import type { Entry } from '../../audit/entry.ts'
import type { Witness } from '../../audit/witness.ts'
import { seeded } from '../../clock/chance.ts'
import { claimBatch } from '../../ledger/claims/batch.ts'
import { limitsIn, quotasAmong } from '../../quotas/limits.ts'
import { isCounted } from '../../quotas/texts.ts'
import { isLimited } from '../../quotas/within.ts'
import { jsonText } from '../../shared/json.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { bulk, query } from '../../store/statement.ts'
import { together, type Subject, wake, type Write } from '../../store/transaction.ts'
import type { Drivers } from '../drivers/registry.ts'
import type { FleetNode } from '../nodes/fleet.ts'
import type { Principal } from '../nodes/provider.ts'
import { lockFreeNodes } from '../nodes/rows.ts'
import { byProvider, traitsByProvider } from '../nodes/traits.ts'
import { anyoneWaiting } from './at-work.ts'
import { claimFor, giveNodes, isStillGood, type Pair } from './giving.ts'
import { propose, type Supply } from './matching.ts'
import { allocationBecame, type AllocationRequest, columnsOf, type NewAllocation, newWishOf } from './rows.ts'

const namesTaken = query((db, a: { names: readonly string[] }, on) =>
  db.selectFrom('allocations').select('name').where(on.isIn('name', a.names)),
)
type Granted = Pick<
  NewAllocation,
  | 'uuid'
  | 'name'
  | 'resource_class'
  | 'traits'
  | 'candidate_nodes'
  | 'extra'
  | 'owner'
  | 'project_id'
  | 'user_id'
  | 'conductor_affinity'
  | 'expires_at'
  | 'created_at'
  | 'request_id'
  | 'keeper'
  | 'planned_end'
  | 'note'
> & { node_id: NodeId }
const insertActive = bulk<Granted>(
  {
    uuid: 'text',
    name: 'text',
    node_id: 'bigint',
    resource_class: 'text',
    traits: 'text',
    candidate_nodes: 'text',
    extra: 'text',
    owner: 'text',
    project_id: 'text',
    user_id: 'text',
    conductor_affinity: 'text',
    expires_at: 'bigint',
    created_at: 'bigint',
    request_id: 'text',
    keeper: 'text',
    planned_end: 'bigint',
    note: 'text',
  },
  (db, r, on) =>
    on.insert(db.insertInto('allocations'), {
      ...r,
      state: sql`'active'`,
      started_at: r.created_at,
      end_known_at: r.created_at,
      updated_at: r.created_at,
    }),
)

/** What a client asks for, with the entry about its request. */
export interface Asked {
  wanted: AllocationRequest
  who: Principal
  entry: Entry
}

interface GrantPlace {
  supply: Supply
  drivers: Drivers
  affinity: string
  witness: Witness
  seed: number
}

/**
 * Whether it may be granted here. What names its uuid or nodes, or stores much, needs checks of its own; what may
 * wait has a turn.
 */
export const isPlain = ({ givenUuid, candidates, node, waitUntil, extra }: AllocationRequest): boolean =>
  givenUuid === null && candidates === null && node === null && waitUntil === null && !isCounted(extra)

/** Of each: the new allocation as it was asked for, or null if it was not granted. */
export function* grantBatch(asked: readonly Asked[], place: GrantPlace, now: number): Write<(NewAllocation | null)[]> {
  const rows = asked.map(one => newRow(one, place.affinity, now))
  const wishes = rows.map((row, id) => ({ ...newWishOf(row), id }))
  const proposed = propose(place.supply, wishes, new Set(), seeded(place.seed))
  const picks = rows.flatMap((allocation, i) => {
    const node = proposed.get(wishes[i]!)
    return node ? [{ allocation, node }] : []
  })
  if (picks.length === 0) return rows.map(() => null)
  const { value: granted, subjects } = yield* collected(give(yield* goodPairs(picks), place.drivers, now))
  const entryOf = new Map(rows.map((row, i) => [row, asked[i]!.entry]))
  yield* record(granted, subjects, entryOf, place.witness)
  if (granted.some(({ allocation }) => allocation.expires_at !== null)) yield* wake('expiry')
  const has = new Set(granted.map(({ allocation }) => allocation))
  return rows.map(row => (has.has(row) ? row : null))
}

function newRow({ wanted, who }: Asked, conductor_affinity: string, now: number): NewAllocation {
  return {
    ...columnsOf(wanted, who, now),
    resource_class: wanted.resourceClass!,
    candidate_nodes: jsonText([]),
    node_id: null,
    state: 'allocating',
    conductor_affinity,
  }
}

/** Two entries for each, as if a conductor had found the node later: what was asked, and what was given. */
function* record(
  granted: readonly Pair[],
  subjects: readonly Subject[],
  entryOf: ReadonlyMap<NewAllocation, Entry>,
  witness: Witness,
): Write<void> {
  const own = new Set(granted.flatMap(({ allocation, node }) => [allocation.uuid, node.uuid]))
  const byId = Map.groupBy(subjects, ({ id }) => id)
  // What belongs to nobody in particular: holds that were found expired.
  const others = subjects.filter(({ id }) => !own.has(id))
  const changes = granted.map(({ allocation, node }, i) => {
    const created = allocationBecame(allocation, 'created', { to: allocation.state, wait_until: null })
    const gave = [...(byId.get(allocation.uuid) ?? []), ...(byId.get(node.uuid) ?? []), ...(i === 0 ? others : [])]
    return [
      { entry: entryOf.get(allocation)!, subjects: [created] },
      { entry: witness({ action: 'allocate', outcome: 'done', request: allocation.request_id }), subjects: gave },
    ]
  })
  yield* recordAll(changes.flat())
}

interface Proposal {
  allocation: NewAllocation
  node: FleetNode
}

/** Locks the nodes and returns the pairs that may go together. */
function* goodPairs(picks: readonly Proposal[]): Write<Pair[]> {
  const [waiting, quotas, twins, locked, traitRows] = yield* together(
    anyoneWaiting({}),
    quotasAmong({ projects: [...new Set(picks.map(({ allocation }) => allocation.project_id))] }),
    namesTaken({ names: picks.flatMap(({ allocation }) => allocation.name ?? []) }),
    lockFreeNodes({ ids: picks.map(({ node }) => node.id) }),
    // After the locks: every change of traits locks the node first.
    traitsByProvider({ providers: picks.map(({ node }) => node.provider_id) }),
  )
  if (waiting.length > 0) return []
  const names = new Set(twins.map(({ name }) => name))
  const nodes = new Map(locked.map(node => [node.id, node]))
  const traits = byProvider(traitRows)
  return picks.flatMap(({ allocation, node: { id } }) => {
    const { name, project_id } = allocation
    const node = nodes.get(id)
    const isNameFree = name === null || !names.has(name)
    if (name !== null) names.add(name)
    if (!node || !isNameFree || isLimited(limitsIn(quotas, project_id), 'nodes', 'longest_allocation_hours')) return []
    return isStillGood(node, traits.get(node.provider_id) ?? [], allocation) ? [{ allocation, node }] : []
  })
}

/** Claims the nodes and writes down who has them. The ledger may refuse some. */
function* give(pairs: readonly Pair[], drivers: Drivers, now: number): Write<Pair[]> {
  if (pairs.length === 0) return []
  const verdicts = yield* claimBatch(
    pairs.map(({ allocation, node }) => claimFor(allocation, node)),
    now,
  )
  const granted = pairs.filter((_, i) => verdicts[i] === null)
  if (granted.length === 0) return []
  const rows = granted.map(({ allocation, node }) => ({ ...allocation, node_id: node.id }))
  yield* giveNodes(granted, insertActive({ rows }), drivers, now)
  return granted
}
