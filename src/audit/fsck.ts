// Checks the chain of seals against the entries, in many short transactions: sealed entries never change.
import type { Finding } from '../store/fsck.ts'
import { limits } from '../shared/limits.ts'
import { query } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { all, one, together, type Read } from '../store/transaction.ts'
import { type AuditRow, sealOf } from './seals.ts'
import { sql } from 'kysely'

const chainNow = query((db, _: object) =>
  db.selectFrom('audit_chain').select(['anchor_id', 'anchor_seal', 'head_id', 'head_seal']).where('one', '=', 1),
)
const sealsAfter = query((db, a: { id: number; limit: number }) =>
  db
    .selectFrom('audit_seals')
    .selectAll()
    .where('id', '>', a.id)
    .orderBy('id')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const entriesBetween = query((db, a: { from: number; to: number }) =>
  db
    .selectFrom('audit')
    .selectAll()
    .where('seal_id', '>=', a.from)
    .where('seal_id', '<=', a.to)
    .orderBy('seal_id')
    .orderBy('id'),
)
const strayEntries = query((db, a: { anchor: number; head: number }) =>
  db
    .selectFrom('audit')
    .select(e => e.fn.countAll<number>().as('count'))
    .where(e => e.or([e('seal_id', '<=', a.anchor), e('seal_id', '>', a.head)])),
)
const straySeals = query((db, a: { anchor: number }) =>
  db
    .selectFrom('audit_seals')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('id', '<=', a.anchor),
)

/** The last checked seal, or the start of the chain. */
interface Link {
  id: number
  seal: string
}

/** Checks the seals after a link; null after the last. A wrong seal is counted, and the check continues from it. */
function* checkSome(after: Link): Read<{ violations: number; link: Link | null }> {
  const chain = yield* one(chainNow({}))
  if (!chain) return { violations: 1, link: null }
  const { anchor_id, anchor_seal, head_id, head_seal } = chain
  // The first call, or the link was pruned meanwhile.
  let link = after.id <= anchor_id ? { id: anchor_id, seal: anchor_seal } : after
  const [seals, ...strays] = yield* together(
    sealsAfter({ id: link.id, limit: limits.auditCheckSeals }),
    strayEntries({ anchor: anchor_id, head: head_id }),
    straySeals({ anchor: anchor_id }),
  )
  if (seals.length === 0) {
    const isWhole = link.id === head_id && link.seal === head_seal
    return { violations: (isWhole ? 0 : 1) + strays[0][0]!.count + strays[1][0]!.count, link: null }
  }
  const rows = yield* all(entriesBetween({ from: seals[0]!.id, to: seals.at(-1)!.id }))
  const bySeal = Map.groupBy(rows, row => row.seal_id)
  let violations = 0
  for (const { id, seal, entries } of seals) {
    const covered: AuditRow[] = bySeal.get(id) ?? []
    const isWhole =
      id === link.id + 1 && entries > 0 && covered.length === entries && sealOf(link.seal, covered) === seal
    if (!isWhole) violations++
    link = { id, seal }
  }
  return { violations, link }
}

export async function checkAudit(store: Store): Promise<Finding> {
  let violations = 0
  let link: Link | null = { id: 0, seal: '' }
  while (link !== null) {
    const from: Link = link
    const some = await store.read(() => checkSome(from))
    violations += some.violations
    link = some.link
  }
  return { invariant: 'the sealed part of the audit is as it was sealed', violations }
}
