// The tables of webhooks.
import type { Generated } from 'kysely'
import type { JsonText } from '../../shared/json.ts'
import type { DeliveryId, WebhookId } from './ids.ts'

export interface WebhookTables {
  webhooks: {
    id: Generated<WebhookId>
    uuid: string
    name: string
    url: string
    /** Null for the events of all projects. */
    project_id: string | null
    maker_user: string
    maker_project: string | null
    /** With commas between them. */
    maker_roles: string
    maker_system: 0 | 1
    /** The types that are wanted: `lease`, `allocation.active`. */
    types: JsonText<readonly string[]>
    /** Only events about this object. */
    object: string | null
    /** Only events about what belongs to this project. */
    only_project: string | null
    /** Only events about what is this user's, or nobody's in particular. */
    only_user: string | null
    /** Null for mail, which isn't signed. */
    secret: string | null
    old_secret: string | null
    old_secret_until: number | null
    state: 'active' | 'paused' | 'disabled'
    /** Why it is not active. */
    reason: string | null
    state_at: number
    cursor_sequence: number
    cursor_part: number
    /** When it found that its place in the log was gone, so that it may have missed events. */
    missed_at: number | null
    created_at: number
    updated_at: number | null
    /** Since when its tries have failed; null when the last one was taken. */
    failing_since: Generated<number | null>
  }
  deliveries: {
    id: Generated<DeliveryId>
    webhook_id: WebhookId
    /** The webhook's; '' for all projects. */
    project_id: string
    /** The id that the receiver sees, the same on every try. */
    message: string
    type: string
    subject: string
    body: JsonText<object>
    status: 'pending' | 'delivered' | 'dropped'
    due_at: number | null
    /** Tries that were begun. */
    attempts: Generated<number>
    /** Tries that failed since the webhook was last resumed. */
    failures: Generated<number>
    /** When the first of these was begun. */
    first_at: number | null
    created_at: number
    answered_at: number | null
    answer_status: number | null
    answer_ms: number | null
    answer_text: string | null
    error: string | null
  }
}
