// Lookups of holds for the rest of bare metal: the hold on a node, and all nodes that are held.
import type { Selectable } from 'kysely'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Schema } from '../../store/schema.ts'
import { query } from '../../store/statement.ts'
import { all, one, type Read } from '../../store/transaction.ts'

export type Hold = Selectable<Schema['reservations']>

const liveOn = query((db, a: { node: NodeId; now: number }) =>
  db.selectFrom('reservations').selectAll().where('node_id', '=', a.node).where('expires_at', '>', a.now),
)
const liveNodes = query((db, a: { now: number }) =>
  db.selectFrom('reservations').select('node_id').where('expires_at', '>', a.now),
)

/** The unexpired hold on a node. */
export function* holdOn(node: NodeId, now: number): Read<Hold | undefined> {
  return yield* one(liveOn({ node, now }))
}

/** The ids of all nodes that are held. */
export function* heldNodes(now: number): Read<Set<NodeId>> {
  return new Set((yield* all(liveNodes({ now }))).map(row => row.node_id))
}
