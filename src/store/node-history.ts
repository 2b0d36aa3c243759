// The lines of the history of nodes. The driver writes them with the log's rows, in the transaction of the change.
import { type RawBuilder, sql } from 'kysely'
import { bulk, type Dialect } from './statement.ts'

/** What a line is about. */
export type HistoryType = 'provisioning' | 'power' | 'maintenance' | 'hand-over' | 'hook' | 'take-over' | 'change'

/** A line about a node, which the mark of a change carries. Who did it and when is added from the entry. */
export interface HistoryLine {
  readonly node: string
  readonly type: HistoryType
  /** For everyone who may see the node's history, so it names no other project. */
  readonly event: string
  readonly severity?: 'error'
  /** What a program of the operator's printed. */
  readonly output?: string
  /** Names, for the project in `detailsOf` and for those who see everything. */
  readonly details?: string
  readonly detailsOf?: string | null
}

export interface HistoryRow {
  node: string
  at: number
  severity: 'info' | 'error'
  type: HistoryType
  event: string
  output: string | null
  user_id: string | null
  project_id: string | null
  conductor: string | null
  details: string | null
  details_of: string | null
}

const newUuid = (dialect: Dialect): RawBuilder<string> =>
  dialect === 'postgres'
    ? sql`gen_random_uuid()::text`
    : sql`lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a'
        || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`

export const appendHistory = bulk<HistoryRow>(
  {
    node: 'text',
    at: 'bigint',
    severity: 'text',
    type: 'text',
    event: 'text',
    output: 'text',
    user_id: 'text',
    project_id: 'text',
    conductor: 'text',
    details: 'text',
    details_of: 'text',
  },
  (db, r, on) =>
    on.insert(db.insertInto('node_history'), {
      uuid: newUuid(on.dialect),
      node_id: sql`(select n.id from nodes as n where n.uuid = ${r.node})`,
      at: r.at,
      severity: r.severity,
      type: r.type,
      event: r.event,
      output: r.output,
      user_id: r.user_id,
      project_id: r.project_id,
      conductor: r.conductor,
      details: r.details,
      details_of: r.details_of,
    }),
)
