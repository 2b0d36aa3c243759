// The columns that hold times, in milliseconds since 1970. The compiler demands a line for each: fsck looks at all.
import type { Selectable } from 'kysely'
import type { Schema } from '../schema.ts'

/** What has happened has a time that is over. The rest may be still to come. */
type When = 'over' | 'any'

type TimeIn<Table> = Extract<keyof Table, `${string}_at` | `${string}_until` | 'at' | 'time' | 'planned_end'>
type TimeTables = { [Name in keyof Schema]: { [Column in TimeIn<Selectable<Schema[Name]>>]: When } }
type TimeColumns = {
  [Name in keyof TimeTables as keyof TimeTables[Name] extends never ? never : Name]: TimeTables[Name]
}

const ROW = { created_at: 'over', updated_at: 'over' } as const
const MADE = { created_at: 'over' } as const

export const TIME_COLUMNS: TimeColumns = {
  calendars: { ...MADE, last_read_at: 'over' },
  hypervisors: { updated_at: 'over' },
  flavors: MADE,
  servers: { ...ROW, fault_at: 'over', launched_at: 'over' },
  moves: ROW,
  token_keys: { ...MADE, retired_at: 'any' },
  revoked_tokens: { expires_at: 'any' },
  application_credentials: { ...MADE, expires_at: 'any' },
  seen_names: { seen_at: 'over' },
  seen_members: { seen_at: 'over' },
  leasables: ROW,
  host_properties: ROW,
  leases: { ...ROW, start_at: 'any', end_at: 'any' },
  lease_reservations: ROW,
  lease_events: { ...ROW, time: 'any', due_at: 'any' },
  bookings: { start_at: 'any', end_at: 'any', free_at: 'any' },
  nova_work: { ...ROW, due_at: 'any', taken_until: 'any' },
  resource_classes: ROW,
  traits: MADE,
  providers: ROW,
  inventories: ROW,
  consumers: { ...ROW, expires_at: 'any' },
  claims: MADE,
  log: { at: 'over' },
  audit_seals: { sealed_at: 'over' },
  chassis: ROW,
  conductors: { registered_at: 'over', heartbeat_at: 'over' },
  nodes: {
    ...ROW,
    inspection_finished_at: 'over',
    inspection_started_at: 'over',
    provision_updated_at: 'over',
    due_at: 'any',
    pledged_at: 'any',
  },
  allocations: {
    ...ROW,
    wait_until: 'any',
    expires_at: 'any',
    kept_until: 'any',
    planned_end: 'any',
    ending_at: 'over',
    started_at: 'over',
    retried_at: 'over',
    end_known_at: 'over',
  },
  reservations: { ...ROW, expires_at: 'any' },
  ports: ROW,
  node_history: { at: 'over' },
  node_documents: { updated_at: 'over' },
  calls: { expires_at: 'any', answered_at: 'over' },
  deploy_templates: ROW,
  volume_connectors: ROW,
  volume_targets: ROW,
  portgroups: ROW,
  node_uses: { from_at: 'over', until_at: 'over' },
  project_usages: { served_at: 'over', counted_at: 'over' },
  webhooks: { ...ROW, old_secret_until: 'any', state_at: 'over', missed_at: 'over' },
  deliveries: { ...MADE, due_at: 'any', first_at: 'over', answered_at: 'over' },
}
