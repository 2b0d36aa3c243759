// Seals the audit: committed entries become part of a hash chain, which shows if one is changed, removed or inserted
// later. One process seals at a time, under a lock that no writer needs.
import { createHash } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import { limits } from '../shared/limits.ts'
import { GuardFailed } from '../store/failure.ts'
import type { Schema } from '../store/schema.ts'
import { command, query } from '../store/statement.ts'
import { all, one, run, runAll, type Write } from '../store/transaction.ts'

export type AuditRow = Selectable<Schema['audit']>

/** Hashes the previous seal and all fields of the entries, in the order of their ids. */
export function sealOf(before: string, rows: readonly AuditRow[]): string {
  const hash = createHash('sha256').update(before)
  for (const row of rows) hash.update('\n').update(canonical(row))
  return hash.digest('hex')
}

const canonical = (row: AuditRow) =>
  JSON.stringify([
    row.id,
    row.at,
    row.request_id,
    row.user_id,
    row.project_id,
    row.roles,
    row.address,
    row.action,
    row.objects,
    row.outcome,
  ])

// If the row is locked, another process is already sealing.
const lockChain = command((db, _: object, on) => {
  const chain = db.selectFrom('audit_chain').select(['anchor_id', 'anchor_seal', 'head_id', 'head_seal'])
  const only = chain.where('one', '=', 1)
  return on.dialect === 'sqlite' ? only : only.forUpdate().skipLocked()
})
// Not by the last sealed id: on PostgreSQL an entry may commit after one with a higher id, and gets a later seal.
const unsealed = query((db, a: { limit: number }) =>
  db
    .selectFrom('audit')
    .selectAll()
    .where('seal_id', 'is', null)
    .orderBy('id')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const addSeal = command((db, a: Selectable<Schema['audit_seals']>) =>
  db.insertInto('audit_seals').values({ id: a.id, entries: a.entries, seal: a.seal, sealed_at: a.sealed_at }),
)
const setSeal = command((db, a: { ids: readonly number[]; seal: number }, on) =>
  db
    .updateTable('audit')
    .set({ seal_id: a.seal })
    .where(on.isIn('id', a.ids, 'bigint'))
    .where('seal_id', 'is', null),
)
const setHead = command((db, a: { id: number; seal: string }) =>
  db.updateTable('audit_chain').set({ head_id: a.id, head_seal: a.seal }).where('one', '=', 1),
)

/** Seals the next entries and returns their number. */
export function* sealNext(now: number): Write<number> {
  const chain = yield* one(lockChain({}))
  if (!chain) return 0
  const rows = yield* all(unsealed({ limit: limits.auditSealEntries }))
  if (rows.length === 0) return 0
  const id = chain.head_id + 1
  const seal = sealOf(chain.head_seal, rows)
  const counts = yield* runAll([
    addSeal({ id, entries: rows.length, seal, sealed_at: now }),
    setSeal({ ids: rows.map(row => row.id), seal: id }),
    setHead({ id, seal }),
  ])
  if (counts[1] !== rows.length) throw new GuardFailed('an entry of the audit was sealed by someone else')
  return rows.length
}

const oldSeals = query((db, a: { before: number; limit: number }) =>
  db
    .selectFrom('audit_seals')
    .selectAll()
    .where('sealed_at', '<', a.before)
    .orderBy('id')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const dropEntries = command((db, a: { upTo: number }) => db.deleteFrom('audit').where('seal_id', '<=', a.upTo))
const dropSeals = command((db, a: { upTo: number }) => db.deleteFrom('audit_seals').where('id', '<=', a.upTo))
const setAnchor = command((db, a: { id: number; seal: string }) =>
  db.updateTable('audit_chain').set({ anchor_id: a.id, anchor_seal: a.seal }).where('one', '=', 1),
)

/** Drops entries that were sealed before a time, oldest first. The last dropped seal becomes the start of the chain. */
export function* pruneSealed(before: number): Write<number> {
  const chain = yield* one(lockChain({}))
  if (!chain) return 0
  const old = yield* all(oldSeals({ before, limit: limits.auditPruneSeals }))
  const last = old.at(-1)
  if (!last) return 0
  const dropped = yield* run(dropEntries({ upTo: last.id }))
  yield* runAll([dropSeals({ upTo: last.id }), setAnchor({ id: last.id, seal: last.seal })])
  return dropped
}
