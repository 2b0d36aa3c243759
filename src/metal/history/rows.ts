// Reads the history of a node, and drops what is too old or too much.
import { type Selectable, sql } from 'kysely'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Schema } from '../../store/schema.ts'
import { command, query } from '../../store/statement.ts'
import { all, one, type Read, run, type Write } from '../../store/transaction.ts'

export type History = Selectable<Schema['node_history']>

const pageAfter = (descending: boolean) =>
  query((db, a: { node: NodeId; after: number; limit: number }) =>
    db
      .selectFrom('node_history')
      .selectAll()
      .where('node_id', '=', a.node)
      .where('id', descending ? '<' : '>', a.after)
      .orderBy('id', descending ? 'desc' : 'asc')
      .limit(sql<number>`cast(${a.limit} as bigint)`),
  )
const PAGES = { asc: pageAfter(false), desc: pageAfter(true) }
const lineOf = query((db, a: { node: NodeId; uuid: string }) =>
  db.selectFrom('node_history').selectAll().where('uuid', '=', a.uuid).where('node_id', '=', a.node),
)
const dropOlder = command((db, a: { before: number; limit: number }) =>
  db.deleteFrom('node_history').where(
    'id',
    'in',
    db
      .selectFrom('node_history')
      .select('id')
      .where('at', '<', a.before)
      .orderBy('at')
      .limit(sql<number>`cast(${a.limit} as bigint)`),
  ),
)
const crowded = query((db, a: { keep: number }) =>
  db
    .selectFrom('node_history')
    .select('node_id')
    .groupBy('node_id')
    .having(e => sql<boolean>`${e.fn.countAll()} > cast(${a.keep} as bigint)`)
    .orderBy('node_id'),
)
/** The oldest of the node that are too many. */
const dropBeyond = command((db, a: { node: NodeId; keep: number; limit: number }) =>
  db.deleteFrom('node_history').where(
    'id',
    'in',
    db
      .selectFrom('node_history')
      .select('id')
      .where('node_id', '=', a.node)
      .orderBy('id', 'desc')
      .limit(sql<number>`cast(${a.limit} as bigint)`)
      .offset(sql<number>`cast(${a.keep} as bigint)`),
  ),
)

interface Page {
  descending: boolean
  limit: number
  marker: string | null
}

/** The lines of one page, and one more when there is a next page. */
export function* listHistory(node: NodeId, { descending, limit, marker }: Page): Read<History[]> {
  const edge = descending ? Number.MAX_SAFE_INTEGER : 0
  const after = marker === null ? edge : (yield* findHistory(node, marker)).id
  return yield* all(PAGES[descending ? 'desc' : 'asc']({ node, after, limit: limit + 1 }))
}

export function* findHistory(node: NodeId, uuid: string): Read<History> {
  const found = yield* one(lineOf({ node, uuid }))
  if (!found) throw problem('metal_not_found', { what: 'History event', name: uuid })
  return found
}

/** Drops a batch of lines from before then; says whether there may be more. */
export function* pruneByAge(before: number): Write<boolean> {
  const limit = limits.historyPruneBatch
  return (yield* run(dropOlder({ before, limit }))) === limit
}

/** The nodes with more lines than are kept. */
export function* crowdedNodes(keep: number): Read<NodeId[]> {
  return (yield* all(crowded({ keep }))).map(({ node_id }) => node_id)
}

/** Drops a batch of the lines that are too many for a node, oldest last; says whether there may be more. */
export function* pruneByNumber(node: NodeId, keep: number): Write<boolean> {
  const limit = limits.historyPruneBatch
  return (yield* run(dropBeyond({ node, keep, limit }))) === limit
}
