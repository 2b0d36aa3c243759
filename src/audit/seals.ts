// Seals the audit: committed entries become part of a hash chain, which shows if one is changed, removed or inserted
// later. One process seals at a time, under a lock that no writer needs.
import { hash } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import { limits } from '../shared/limits.ts'
import type { Schema } from '../store/schema.ts'
import { command, query } from '../store/statement.ts'
import { all, one, run, runAll, together, type Write } from '../store/transaction.ts'
import { type AuditRow, canonical, inOrder, unsealed } from './order.ts'

/** Hashes the previous seal and all fields of the entries, in their order. */
export const sealOf = (before: string, rows: readonly (AuditRow | { canonical: string })[]): string =>
  // At once: a call for each entry costs more than the hashing.
  hash('sha256', [before, ...rows.map(row => ('canonical' in row ? row.canonical : canonical(row)))].join('\n'))

// If the row is locked, another process is already sealing.
const lockChain = command((db, _: object, on) => {
  const chain = db.selectFrom('audit_chain').select(['anchor_id', 'head_id', 'head_seal', 'newest_id'])
  const only = chain.where('one', '=', 1)
  return on.dialect === 'sqlite' ? only : only.forNoKeyUpdate().skipLocked()
})
const addSeal = command((db, a: Selectable<Schema['audit_seals']>) =>
  db
    .insertInto('audit_seals')
    .values({ id: a.id, entries: a.entries, last: a.last, seal: a.seal, sealed_at: a.sealed_at }),
)
const setHead = command((db, a: { id: number; seal: string; last: number; newest: number }) =>
  db
    .updateTable('audit_chain')
    .set({ head_id: a.id, head_seal: a.seal, head_last: a.last, newest_id: a.newest })
    .where('one', '=', 1),
)

/** Seals the next entries and returns their number. */
export function* sealNext(now: number): Write<number> {
  // In one burst: the second sees the chain as it is once the first has locked it.
  const [[chain], found] = yield* together(lockChain({}), unsealed({ limit: limits.auditSealEntries }))
  if (!chain || found.length === 0) return 0
  const rows = inOrder(found)
  const id = chain.head_id + 1
  const last = rows.at(-1)!.sequence
  const seal = sealOf(chain.head_seal, rows)
  const newest = rows.reduce((highest, row) => Math.max(highest, row.id), chain.newest_id)
  yield* runAll([
    addSeal({ id, entries: rows.length, last, seal, sealed_at: now }),
    setHead({ id, seal, last, newest }),
  ])
  return rows.length
}

const sealsFrom = query((db, a: { from: number; to: number }) =>
  db.selectFrom('audit_seals').selectAll().where('id', '>=', a.from).where('id', '<=', a.to).orderBy('id'),
)
const dropEntries = command((db, a: { upTo: number }, on) =>
  on.dialect === 'sqlite'
    ? db.deleteFrom('log').where('id', '<=', a.upTo)
    : db
        .with('gone', db => db.deleteFrom('log_order').where('last', '<=', a.upTo).returning('entries'))
        .deleteFrom('log')
        .where(on.isAmong('id', sql`(select unnest(entries) from gone)`)),
)
const dropSeals = command((db, a: { upTo: number }) => db.deleteFrom('audit_seals').where('id', '<=', a.upTo))
const setAnchor = command((db, a: { id: number; seal: string; last: number }) =>
  db.updateTable('audit_chain').set({ anchor_id: a.id, anchor_seal: a.seal, anchor_last: a.last }).where('one', '=', 1),
)

/** Drops entries that were sealed before a time, oldest first. The last dropped seal becomes the start of the chain. */
export function* pruneSealed(before: number): Write<number> {
  const chain = yield* one(lockChain({}))
  if (!chain) return 0
  // The newest stays, so that a place is never given again.
  const to = Math.min(chain.anchor_id + limits.auditPruneSeals, chain.head_id - 1)
  const oldest = yield* all(sealsFrom({ from: chain.anchor_id + 1, to }))
  const young = oldest.findIndex(({ sealed_at }) => sealed_at >= before)
  const old = young < 0 ? oldest : oldest.slice(0, young)
  const end = old.at(-1)
  if (!end) return 0
  yield* run(dropEntries({ upTo: end.last }))
  yield* runAll([dropSeals({ upTo: end.id }), setAnchor({ id: end.id, seal: end.seal, last: end.last })])
  return old.length
}
