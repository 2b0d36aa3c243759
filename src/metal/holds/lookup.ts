// Lookups of holds for the rest of bare metal: the hold on a node, and all nodes that are held.
import type { Selectable } from 'kysely'
import { subject, timeOf, type Word } from '../../events/subject.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Schema } from '../../store/schema.ts'
import { query } from '../../store/statement.ts'
import { all, one, type Read, type Subject } from '../../store/transaction.ts'
import { heldLine } from '../history/lines.ts'
import type { NodeRow } from '../nodes/rows.ts'
import { nameOf } from '../nodes/what-became.ts'

export type Hold = Selectable<Schema['reservations']>

const liveOn = query((db, a: { node: NodeId; now: number }) =>
  db.selectFrom('reservations').selectAll().where('node_id', '=', a.node).where('expires_at', '>', a.now),
)
const liveNodes = query((db, a: { now: number }) =>
  db.selectFrom('reservations').select('node_id').where('expires_at', '>', a.now),
)

/** Says what became of a hold. `until` is its end. */
export const holdBecame = (
  hold: Omit<Hold, 'id'>,
  became: Word<'hold'>,
  node: Pick<NodeRow, 'uuid' | 'name'>,
): Subject => {
  const history = heldLine(hold, became, node)
  return subject('hold', hold.uuid, became, {
    whose: { project: hold.owner },
    data: { instance_uuid: hold.instance_uuid, until: timeOf(hold.expires_at), node: nameOf(node) },
    ...(history && { history }),
  })
}

/** The unexpired hold on a node. */
export function* holdOn(node: NodeId, now: number): Read<Hold | undefined> {
  return yield* one(liveOn({ node, now }))
}

/** The ids of all nodes that are held. */
export function* heldNodes(now: number): Read<Set<NodeId>> {
  return new Set((yield* all(liveNodes({ now }))).map(row => row.node_id))
}
