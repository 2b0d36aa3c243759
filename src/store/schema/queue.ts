// The tables of the queue for nodes.
import type { Generated } from 'kysely'

export interface QueueTables {
  project_priorities: {
    project_id: string
    priority: number
    share: number
  }
  node_uses: {
    id: Generated<number>
    project_id: string
    from_at: number
    until_at: number
  }
  project_usages: {
    project_id: string
    ended: number
    used: number
    served_at: number
    counted_at: number
  }
}
