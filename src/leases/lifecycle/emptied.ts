// Leases that wait for their end because someone uses what they gave. The pauses between tries grow, so whoever gives
// the last of it back would wait for the next try: this finds leases whose classes became unused, and makes them due.
import { sql } from 'kysely'
import type { Clock } from '../../clock/clock.ts'
import type { Store } from '../../store/store.ts'
import { bulk, query } from '../../store/statement.ts'
import { all, run } from '../../store/transaction.ts'
import { classOf } from './reservation-resources.ts'

// The status is written out, so that the databases use the index for it.
const waiting = query((db, _: object) =>
  db
    .selectFrom('leases')
    .innerJoin('lease_reservations as r', 'r.lease_id', 'leases.id')
    .select(['r.id', 'r.lease_id'])
    .where('leases.status', '=', sql.lit('TERMINATING'))
    .where('r.resource_type', '<>', 'physical:node'),
)
const unused = query((db, a: { names: readonly string[] }, on) =>
  db
    .selectFrom('resource_classes as c')
    .select('c.name')
    .where(on.isIn('c.name', a.names))
    .where(e => {
      const used = e.selectFrom('inventories as i').select('i.used').whereRef('i.class_id', '=', 'c.id')
      return e.not(e.exists(used.where('i.used', '>', 0)))
    }),
)
const makeDue = bulk<{ id: string; now: number }>({ id: 'text', now: 'bigint' }, (db, r, on) =>
  on
    .update(db.updateTable('lease_events'), 'lease_events.lease_id', r.id)
    .set({ due_at: r.now })
    .where('lease_events.event_type', '=', 'end_lease')
    .where('lease_events.due_at', '>', r.now),
)

/**
 * Makes the ends of such leases due, each once: if the end then fails for another reason, the pauses between its tries
 * grow as usual. It remembers whom it has found, so a process keeps one of these.
 */
export function hastener(): (place: { store: Pick<Store, 'read' | 'write'>; clock: Clock }) => Promise<void> {
  let known = new Set<string>()
  return async ({ store, clock }) => {
    const empty = await store.read(() => emptied())
    const news = [...empty].filter(id => !known.has(id))
    if (news.length > 0) await store.write(() => run(makeDue({ rows: news.map(id => ({ id, now: clock.now() })) })))
    known = empty
  }
}

/** The leases with a class that is still there and that nobody uses. */
function* emptied() {
  const rows = yield* all(waiting({}))
  if (rows.length === 0) return new Set<string>()
  const names = new Set((yield* all(unused({ names: rows.map(({ id }) => classOf(id)) }))).map(({ name }) => name))
  return new Set(rows.filter(({ id }) => names.has(classOf(id))).map(({ lease_id }) => lease_id))
}
