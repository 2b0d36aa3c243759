// Lists audit entries, newest first.
import { type RawBuilder, sql } from 'kysely'
import { problem } from '../problems/problem.ts'
import { onePage, partsOf, readIfShort, type RowsToRead } from '../store/sized.ts'
import { query, type Tools } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { all, one, type Read } from '../store/transaction.ts'
import type { AuditRow } from './order.ts'

/** null means no filter. */
export interface AuditFilter {
  user: string | null
  project: string | null
  action: string | null
  /** The ids and names of changed objects: any of them. */
  objects: readonly string[] | null
  requestId: string | null
  since: number
  until: number
}

export interface ListedRow extends AuditRow {
  is_sealed: number
}

interface ListArgs extends AuditFilter {
  /** The objects' ids and names as they appear in the JSON of `objects`. */
  quoted: readonly string[]
  any: 0 | 1
  markerAt: number
  markerId: number
  limit: number
}

const given = (argument: string | null, condition: RawBuilder<unknown>) =>
  sql<boolean>`(cast(${argument} as text) is null or ${condition})`

/** Whether an entry has its place, and a seal covers that. */
const isSealed = (on: Tools) =>
  on.dialect === 'sqlite'
    ? sql<number>`id <= (select head_last from audit_chain)`
    : sql<number>`(coalesce(pg_visible_in_snapshot(xid, (select cursor from log_head)), true) and not exists (
        select from log_order as o, audit_chain as c
        where o.last > c.head_last and o.first + array_position(o.entries, log.id) - 1 > c.head_last))::int`

const entriesById = query((db, a: { ids: readonly number[] }, on) =>
  db
    .selectFrom('log')
    .select(['id', 'at', 'request_id', 'user_id', 'project_id', 'roles', 'address', 'action', 'objects', 'outcome'])
    .select(isSealed(on).as('is_sealed'))
    .where(on.isIn('id', a.ids, 'bigint')),
)
const page = query((db, a: ListArgs, on) =>
  db
    .selectFrom('log')
    .select(['id', on.bytes('objects').as('bytes')])
    // The rest is for listeners and other processes: what nobody did, or what was done while the audit was off.
    .where('user_id', '<>', '')
    .where('at', '>=', a.since)
    .where('at', '<=', a.until)
    .where(sql<boolean>`(at, id) < (${a.markerAt}, ${a.markerId})`)
    .where(given(a.user, sql`user_id = ${a.user}`))
    .where(given(a.project, sql`project_id = ${a.project}`))
    .where(given(a.action, sql`action = ${a.action}`))
    .where(given(a.requestId, sql`request_id = ${a.requestId}`))
    .where(sql<boolean>`(cast(${a.any} as bigint) = 1 or ${on.hasAnyOf('objects', a.quoted)})`)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const entryAt = query((db, a: { id: number }) => db.selectFrom('log').select(['at', 'id']).where('id', '=', a.id))

const BEFORE_ALL = { at: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER }

interface ListedAudit {
  rows: RowsToRead<number, ListedRow>
  /** The last one of the page, if there are more. */
  marker: number | null
}

export const auditParts = (store: Store, rows: ListedAudit['rows']) => partsOf(store, rows, entriesById)

/** The entries of one page. It ends early when they are large. */
export function* listAudit(filter: AuditFilter, marker: number | null, limit: number): Read<ListedAudit> {
  const from = marker === null ? BEFORE_ALL : yield* one(entryAt({ id: marker }))
  if (!from) throw problem('malformed_request', { reason: `there is no entry ${marker} to go on after` })
  const quoted = (filter.objects ?? []).flatMap(word => ['id', 'name'].map(name => `"${name}":${JSON.stringify(word)}`))
  const any = filter.objects === null ? 1 : 0
  const found = yield* all(page({ ...filter, quoted, any, markerAt: from.at, markerId: from.id, limit: limit + 1 }))
  const cut = onePage(found, limit)
  return { rows: yield* readIfShort(cut, entriesById), marker: cut.hasMore ? cut.page.at(-1)!.id : null }
}
