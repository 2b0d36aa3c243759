// The rows of the log. The driver writes them in the transaction of the change, with what other processes need to know.
import type { Selectable } from 'kysely'
import { jsonText } from '../shared/json.ts'
import type { Change } from './change.ts'
import type { HistoryRow } from './node-history.ts'
import type { Schema } from './schema.ts'
import { bulk } from './statement.ts'
import type { Told } from './transaction.ts'

/** An entry: who did what to which objects, and how it went. */
export type LogRow = Omit<Selectable<Schema['log']>, 'id' | 'xid' | 'origin' | 'providers' | 'topics'>

/** What there may be work on. 'any' wakes everyone. */
export type Topic =
  | 'nodes'
  | 'calls'
  | 'answers'
  | 'allocations'
  | 'expiry'
  | 'servers'
  | 'leases'
  | 'healing'
  | 'nova'
  | 'hypervisors'
  | 'any'

/** What a transaction has told besides its statements. */
export class Report {
  /** For the log. */
  readonly entries: LogRow[] = []
  /** For the history of nodes. */
  readonly history: HistoryRow[] = []
  /** For the copies in memory. */
  readonly changes: Change[] = []
  /** For the duties. */
  readonly topics = new Set<Topic>()

  take(told: Told): void {
    if (told.kind === 'note') this.changes.push(...told.changes)
    else if (told.kind === 'log') {
      this.entries.push(...told.entries)
      this.history.push(...told.history)
    } else if (told.kind === 'wake') for (const topic of told.topics) this.topics.add(topic)
  }

  add({ entries, changes, topics }: Report): void {
    this.entries.push(...entries)
    this.changes.push(...changes)
    for (const topic of topics) this.topics.add(topic)
  }

  /** Whether the log gets no row. */
  get isEmpty(): boolean {
    return this.entries.length === 0 && this.changes.length === 0 && this.topics.size === 0
  }
}

/** With the columns that only PostgreSQL has, which are null where they are left out. */
type SharedRow = LogRow & Partial<Pick<Selectable<Schema['log']>, 'origin' | 'providers' | 'topics'>>

export const append = bulk<SharedRow>(
  {
    at: 'bigint',
    request_id: 'text',
    user_id: 'text',
    project_id: 'text',
    roles: 'text',
    address: 'text',
    action: 'text',
    objects: 'text',
    outcome: 'text',
    origin: 'text',
    providers: 'bigint[]',
    topics: 'text[]',
  },
  (db, r, on) =>
    on.insert(db.insertInto('log'), {
      at: r.at,
      request_id: r.request_id,
      user_id: r.user_id,
      project_id: r.project_id,
      roles: r.roles,
      address: r.address,
      action: r.action,
      objects: r.objects,
      outcome: r.outcome,
      ...(on.dialect === 'postgres' && { origin: r.origin, providers: r.providers, topics: r.topics }),
    }),
)

/** No entry: only other processes read it, and soon it is pruned. */
const BARE: LogRow = {
  at: 0,
  request_id: null,
  user_id: '',
  project_id: null,
  roles: '',
  address: '',
  action: '',
  objects: jsonText([]),
  outcome: 'done',
}

/** The rows of a transaction that tells the other processes by itself: at least one, which it can tell them with. */
export const rowsFor = (entries: readonly LogRow[]): readonly LogRow[] => (entries.length > 0 ? entries : [BARE])

/** The rows of a transaction. The first one also tells the processes other than `origin` what to read and whom to wake. */
export function rowsOf({ entries, changes, topics }: Report, origin: string | null): SharedRow[] {
  const [first = BARE, ...others] = entries
  const providers = changes.length === 0 ? null : [...new Set(changes.map(change => change.provider))]
  const told = { origin, providers, topics: topics.size === 0 ? null : [...topics] }
  return [{ ...first, ...told }, ...others]
}
