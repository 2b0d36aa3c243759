// Lookups of holds for the rest of bare metal: the hold on a node, and all nodes that are held.
import type { Selectable } from 'kysely'
import { subject, timeOf, type Word } from '../../events/subject.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Schema } from '../../store/schema.ts'
import { query } from '../../store/statement.ts'
import { one, type Read, type Subject, together } from '../../store/transaction.ts'
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

const nodesAtWork = query((db, _: object) =>
  db.selectFrom('nodes').select('id').where('transition', 'is not', null).where('provision_state', '=', 'available'),
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

/** What keeps a free node from being given out, and is in no memory: a hold on it, or work of a conductor. */
export type Kept = ReadonlyMap<NodeId, 'reserved' | 'busy'>

/** All nodes that are held, and those that a conductor has for a moment, such as to switch them on. */
export function* keptNodes(now: number): Read<Kept> {
  const [working, held] = yield* together(nodesAtWork({}), liveNodes({ now }))
  return new Map([
    ...working.map(({ id }) => [id, 'busy'] as const),
    ...held.map(({ node_id }) => [node_id, 'reserved'] as const),
  ])
}
