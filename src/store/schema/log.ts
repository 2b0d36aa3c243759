// The tables of the log and of the audit's seals.
import type { Generated } from 'kysely'
import type { JsonText } from '../../shared/json.ts'
import type { Subject } from '../transaction.ts'

export interface LogTables {
  log: {
    id: Generated<number>
    at: number
    request_id: string | null
    user_id: string
    project_id: string | null
    roles: string
    address: string
    action: string
    /** What was changed. The seals are made over this text. */
    objects: JsonText<readonly Subject[]>
    outcome: 'done' | 'accepted' | 'failed'
    /** These are only on PostgreSQL, for the other processes. */
    xid: Generated<string | null>
    origin: string | null
    providers: readonly number[] | null
    topics: readonly string[] | null
  }
  /** Which entries have the places from `first` to `last`. On SQLite a view: each has the place of its id. */
  log_order: {
    first: number
    last: number
    entries: unknown
  }
  /** The newest place. */
  log_head: {
    last: number
    /** Only on PostgreSQL. */
    cursor: string
  }
  audit_seals: {
    id: number
    entries: number
    /** The place of the last entry that it covers. */
    last: number
    seal: string
    sealed_at: number
  }
  /** The two ends of the chain of seals. */
  audit_chain: {
    one: Generated<number>
    anchor_id: number
    anchor_seal: string
    anchor_last: number
    head_id: number
    head_seal: string
    head_last: number
    /** The highest id of an entry that is sealed. */
    newest_id: number
  }
}
