// The tables as Kysely sees them, one file a room in schema/; the SQL that makes them is in migrations/.
// Times are milliseconds since 1970, truth values are 0 and 1: the same on both databases.
import type { CalendarTables } from './schema/calendars.ts'
import type { ComputeTables } from './schema/compute.ts'
import type { IdentityTables } from './schema/identity.ts'
import type { LeaseTables } from './schema/leases.ts'
import type { LedgerTables } from './schema/ledger.ts'
import type { LogTables } from './schema/log.ts'
import type { MetalTables } from './schema/metal.ts'
import type { QueueTables } from './schema/queue.ts'
import type { QuotaTables } from './schema/quotas.ts'
import type { WebhookTables } from './schema/webhooks.ts'

export interface Schema
  extends
    CalendarTables,
    ComputeTables,
    IdentityTables,
    LeaseTables,
    LedgerTables,
    LogTables,
    MetalTables,
    QueueTables,
    QuotaTables,
    WebhookTables {}
