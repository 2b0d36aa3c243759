// Checks the chain of seals against the entries, in many short transactions: sealed entries never change.
import type { Finding } from '../store/fsck.ts'
import { limits } from '../shared/limits.ts'
import { query } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { all, one, together, type Read } from '../store/transaction.ts'
import { entriesFrom } from './order.ts'
import { sealOf } from './seals.ts'
import { sql } from 'kysely'

/** More only if someone wrote into the seals. */
const SEALED_ENTRIES_MAX = limits.auditCheckSeals * limits.auditSealEntries

const chainNow = query((db, _: object) => db.selectFrom('audit_chain').selectAll().where('one', '=', 1))
const sealsAfter = query((db, a: { id: number; limit: number }) =>
  db
    .selectFrom('audit_seals')
    .selectAll()
    .where('id', '>', a.id)
    .orderBy('id')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const strayEntries = query((db, a: { anchor: number }) =>
  db
    .selectFrom('log_order')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('last', '<=', a.anchor),
)
const straySeals = query((db, a: { anchor: number }) =>
  db
    .selectFrom('audit_seals')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('id', '<=', a.anchor),
)

/** Entries without a place, although listeners and seals are past them; and entries with two. */
const misplaced = query((db, _: object, on) =>
  db.selectFrom('log_head').select(
    on.dialect === 'sqlite'
      ? sql<number>`0`.as('count')
      : sql<number>`greatest(0, (select count(*) from log where action <> '' and coalesce(pg_visible_in_snapshot(xid, cursor), true))
          - (select coalesce(sum(cardinality(entries)), 0) from log_order))
          + (select count(*) - count(distinct entry) from log_order, unnest(entries) as entry)`.as('count'),
  ),
)

/** The last checked seal, or the start of the chain. */
interface Link {
  id: number
  seal: string
  /** The place of the last entry that it covers. */
  last: number
}

/** Checks the seals after a link; null after the last. A wrong seal is counted, and the check continues from it. */
function* checkSome(after: Link): Read<{ violations: number; link: Link | null }> {
  const chain = yield* one(chainNow({}))
  if (!chain) return { violations: 1, link: null }
  const anchor = { id: chain.anchor_id, seal: chain.anchor_seal, last: chain.anchor_last }
  // The first call, or the link was pruned meanwhile.
  let link = after.id <= anchor.id ? anchor : after
  const seals = yield* all(sealsAfter({ id: link.id, limit: limits.auditCheckSeals }))
  if (seals.length === 0) {
    const isWhole = link.id === chain.head_id && link.seal === chain.head_seal && link.last === chain.head_last
    // Only at the end: these look at the whole log.
    const strays = yield* together(
      strayEntries({ anchor: anchor.last }),
      straySeals({ anchor: anchor.id }),
      misplaced({}),
    )
    return {
      violations: (isWhole ? 0 : 1) + strays.reduce((sum, [found]) => sum + found!.count, 0),
      link: null,
    }
  }
  const first = link.last + 1
  const rows = yield* entriesFrom(first, Math.min(seals.at(-1)!.last + 1 - first, SEALED_ENTRIES_MAX))
  let violations = 0
  let at = 0
  for (const { id, seal, entries, last } of seals) {
    const { last: before } = link
    const start = at
    while (at < rows.length && rows[at]!.sequence <= last) at++
    const covered = rows.slice(start, at).filter(({ sequence }) => sequence > before)
    const isWhole =
      id === link.id + 1 && entries > 0 && covered.length === entries && sealOf(link.seal, covered) === seal
    if (!isWhole) violations++
    link = { id, seal, last }
  }
  return { violations, link }
}

export async function checkAudit(store: Store): Promise<Finding> {
  let violations = 0
  let link: Link | null = { id: 0, seal: '', last: 0 }
  while (link !== null) {
    const from: Link = link
    const some = await store.read(() => checkSome(from))
    violations += some.violations
    link = some.link
  }
  return { invariant: 'the sealed part of the audit is as it was sealed', violations }
}
