// Makes many holds in one transaction, each on the first node that it names. Memory may be stale, so all is checked
// again under lock. Who gets nothing here is asked for in the usual way: it tries the other nodes, and says why not.
import { sql } from 'kysely'
import { collected } from '../../audit/collected.ts'
import type { Entry } from '../../audit/entry.ts'
import { recordAll } from '../../audit/record.ts'
import { claimBatch } from '../../ledger/claims/batch.ts'
import { expireConsumers } from '../../ledger/claims/lapsed.ts'
import type { ClaimRequest } from '../../ledger/claims/claim.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { limitsIn, quotasAmong } from '../../quotas/limits.ts'
import { isLimited } from '../../quotas/within.ts'
import { GuardFailed } from '../../store/failure.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { bulk, command, query } from '../../store/statement.ts'
import { mark, runAll, together, wake, type Write } from '../../store/transaction.ts'
import type { View } from '../access.ts'
import { hasRoom, type Supply } from '../allocations/matching.ts'
import type { FleetNode } from '../nodes/fleet.ts'
import type { Principal } from '../nodes/provider.ts'
import { lockFreeNodes, type NodeRow, noteNode, OWNER, reviseNodes } from '../nodes/rows.ts'
import type { HeldNode, NewHold } from './lifecycle.ts'
import { type Hold, holdBecame } from './lookup.ts'

// In order, so that two batches can't deadlock. See requireFreeInstance.
const standInLine = command((db, a: { instances: readonly string[] }, on) =>
  on.dialect === 'sqlite'
    ? db.selectNoFrom(sql`1`.as('turn'))
    : db
        .selectFrom(
          sql<{ place: number }>`(select distinct hashtextextended(i, 0) as place
            from unnest(cast(${a.instances} as text[])) as i order by 1)`.as('t'),
        )
        .select(sql`cast(pg_advisory_xact_lock(t.place) as text)`.as('turn')),
)
const instancesInUse = query((db, a: { instances: readonly string[] }, on) =>
  db
    .selectFrom('nodes')
    .select(sql<string>`instance_uuid`.as('uuid'))
    .where(on.isIn('instance_uuid', a.instances))
    .unionAll(
      db.selectFrom('reservations').select('instance_uuid as uuid').where(on.isIn('instance_uuid', a.instances)),
    )
    .unionAll(db.selectFrom('consumers').select('uuid').where(on.isIn('uuid', a.instances)))
    .unionAll(db.selectFrom('allocations').select('uuid').where(on.isIn('uuid', a.instances))),
)
const holdsOn = query((db, a: { nodes: readonly NodeId[]; now: number }, on) =>
  db
    .selectFrom('reservations')
    .select('node_id')
    .where(on.isIn('node_id', a.nodes, 'bigint'))
    .where('expires_at', '>', a.now),
)
type NewRow = Omit<Hold, 'id' | 'updated_at'>
const insert = bulk<NewRow>(
  {
    uuid: 'text',
    node_id: 'bigint',
    instance_uuid: 'text',
    owner: 'text',
    project_id: 'text',
    expires_at: 'bigint',
    created_at: 'bigint',
  },
  (db, r, on) => on.insert(db.insertInto('reservations'), r),
)

/** What a client asks for, with the entry about its request. */
export interface AskedHold {
  wanted: NewHold
  /** What the client sees. */
  view: View
  who: Principal
  entry: Entry
}

export type MadeHold = Omit<HeldNode, 'id'>

interface Pair {
  asked: AskedHold
  node: NodeRow
}

/** Of each: the hold, or null if it was not made. */
export function* holdBatch(asked: readonly AskedHold[], supply: Supply, now: number): Write<(MadeHold | null)[]> {
  const picks = picked(asked, supply)
  if (picks.size === 0) return asked.map(() => null)
  const { value: made, subjects } = yield* collected(make(yield* goodPairs(picks, now), now))
  const own = new Set(asked.map(({ wanted }) => wanted.uuid))
  const byId = Map.groupBy(subjects, ({ id }) => id)
  // What belongs to nobody in particular: holds that were found expired.
  const others = subjects.filter(({ id }) => !own.has(id))
  yield* recordAll(
    [...made].map(([{ entry, wanted }], i) => ({
      entry,
      subjects: [...(byId.get(wanted.uuid) ?? []), ...(i === 0 ? others : [])],
    })),
  )
  if (made.size > 0) yield* wake('expiry')
  return asked.map(one => made.get(one) ?? null)
}

/** The first node of each, if it is free as far as memory knows. No node and no instance twice. */
function picked(asked: readonly AskedHold[], supply: Supply): Map<AskedHold, FleetNode> {
  const picks = new Map<AskedHold, FleetNode>()
  const taken = new Set<NodeId | string>()
  for (const one of asked) {
    const { nodes, instance } = one.wanted
    const uuid = canonicalUuid(nodes[0]!)
    const node = uuid ? supply.fleet.withUuid(uuid) : supply.fleet.named(nodes[0]!)
    if (!node || taken.has(node.id) || taken.has(instance) || !isFree(node) || !hasRoom(supply, node)) continue
    picks.set(one, node)
    taken.add(node.id).add(instance)
  }
  return picks
}

const isFree = (node: FleetNode): boolean =>
  !node.maintenance &&
  !node.retired &&
  !node.leasable &&
  node.instance_uuid === null &&
  node.provision_state === 'available'

const sees = ({ all, project }: View, { owner, lessee }: NodeRow): boolean =>
  all === 1 || (project !== null && (owner === project || lessee === project))

const projectOf = ({ wanted, who }: AskedHold) => wanted.owner ?? who.project

/** Locks the nodes and the instances, and returns the pairs that may go together. */
function* goodPairs(picks: ReadonlyMap<AskedHold, FleetNode>, now: number): Write<Pair[]> {
  const asked = [...picks.keys()]
  const ids = Array.from(picks.values(), ({ id }) => id)
  const instances = asked.map(({ wanted }) => wanted.instance)
  const [locked, , used, held, quotas] = yield* together(
    lockFreeNodes({ ids }),
    standInLine({ instances }),
    instancesInUse({ instances }),
    holdsOn({ nodes: ids, now }),
    quotasAmong({ projects: [...new Set(asked.map(projectOf))] }),
  )
  const nodes = new Map(locked.map(node => [node.id, node]))
  const inUse = new Set(used.map(({ uuid }) => uuid))
  const isHeld = new Set(held.map(({ node_id }) => node_id))
  return asked.flatMap(one => {
    const node = nodes.get(picks.get(one)!.id)
    if (!node || !isFree(node) || !sees(one.view, node) || isHeld.has(node.id)) return []
    const { wanted } = one
    const { nodes: idents } = wanted
    // It may have another name by now.
    if (node.uuid !== canonicalUuid(idents[0]!) && node.name !== idents[0]) return []
    if (inUse.has(wanted.instance)) return []
    return isLimited(limitsIn(quotas, projectOf(one)), 'nodes', 'longest_hold_hours') ? [] : [{ asked: one, node }]
  })
}

function claimFor({ asked, node }: Pair): ClaimRequest {
  const resources = new Map([[node.uuid, new Map([[node.placement_class, 1]])]])
  const { uuid: consumer } = asked.wanted
  const who = { projectId: projectOf(asked), userId: asked.who.user, type: 'RESERVATION' }
  return { kind: 'replace', consumers: [{ consumer, ...who, generation: null, resources }], owner: OWNER }
}

/** Claims the nodes and writes down the holds. The ledger may refuse some. */
function* make(pairs: readonly Pair[], now: number): Write<Map<AskedHold, MadeHold>> {
  if (pairs.length === 0) return new Map()
  const verdicts = yield* claimBatch(pairs.map(claimFor), now)
  const granted = pairs.filter((_, i) => verdicts[i] === null)
  if (granted.length === 0) return new Map()
  const holds = granted.map(({ asked, node }) => ({
    uuid: asked.wanted.uuid,
    node_id: node.id,
    instance_uuid: asked.wanted.instance,
    owner: asked.wanted.owner,
    project_id: projectOf(asked),
    expires_at: asked.wanted.expiresAt,
    created_at: now,
  }))
  const counts = yield* runAll([
    expireConsumers({ rows: holds.map(({ uuid, expires_at }) => ({ uuid, expires_at })) }),
    insert({ rows: holds }),
    reviseNodes({ ids: holds.map(({ node_id }) => node_id) }),
  ])
  if (counts.some(count => count !== holds.length)) throw new GuardFailed('a hold changed while it was made')
  for (const { node } of granted) yield* noteNode({ ...node, revision: node.revision + 1 })
  const made = granted.map(({ asked, node }, i) => {
    const hold = { ...holds[i]!, updated_at: null }
    return { asked, node, hold: { ...hold, node_uuid: node.uuid, node_name: node.name } }
  })
  yield* mark(...made.map(({ hold, node }) => holdBecame(hold, 'created', node)))
  return new Map(made.map(({ asked, hold }) => [asked, hold]))
}
