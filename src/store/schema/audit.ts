// The tables of the audit.
import type { Generated } from 'kysely'
import type { JsonText } from '../../shared/json.ts'
import type { Subject } from '../transaction.ts'

export interface AuditTables {
  audit: {
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
    seal_id: number | null
  }
  audit_seals: {
    id: number
    entries: number
    seal: string
    sealed_at: number
  }
  audit_chain: {
    one: Generated<number>
    anchor_id: number
    anchor_seal: string
    head_id: number
    head_seal: string
  }
}
