// The table of the calendars that programs subscribe to.
import type { JsonText } from '../../shared/json.ts'

export interface CalendarTables {
  calendars: {
    id: string
    /** A hash of the token in its URL. */
    token_hash: string
    /** Whose leases and allocations it shows: the id of a user or a project, or the uuid of a node. */
    kind: 'user' | 'project' | 'node'
    whose: string
    /** How the one who made it was authenticated. */
    auth: 'none' | 'noauth2' | 'password' | 'keystone'
    user_id: string
    /** null for a token without a project. */
    project_id: string | null
    roles: JsonText<readonly string[]>
    created_at: number
    last_read_at: number | null
  }
}
