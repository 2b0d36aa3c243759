// The tables of identity. Users and projects are not among them: those are in the users file.
import type { JsonText } from '../../shared/json.ts'

export interface IdentityTables {
  token_keys: {
    id: number
    secret: string
    created_at: number
    retired_at: number | null
  }
  revoked_tokens: {
    token_id: string
    expires_at: number
  }
  application_credentials: {
    id: string
    user_id: string
    name: string
    user_name: string
    project_name: string
    description: string
    secret: string
    roles: JsonText<readonly string[]>
    unrestricted: 0 | 1
    is_open: 0 | 1
    expires_at: number | null
    created_at: number
  }
  seen_names: {
    kind: 'user' | 'project'
    id: string
    name: string
    seen_at: number
  }
  seen_members: {
    project_id: string
    user_id: string
    seen_at: number
  }
}
