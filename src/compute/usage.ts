// What servers take, and have taken in a period, by project. Counted from the servers that are there: deleted ones are
// not kept.
import { type Kysely, sql } from 'kysely'
import { shownIn, type JsonText } from '../shared/json.ts'
import { WISH } from '../store/schema/json-columns.ts'
import { limits } from '../shared/limits.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import { query } from '../store/statement.ts'
import { all, type Read } from '../store/transaction.ts'
import type { Status } from './servers.ts'
import type { Wish } from './wishes.ts'

export interface Size {
  vcpus: number
  memory_mb: number
  local_gb: number
}

export const NOTHING: Size = { vcpus: 0, memory_mb: 0, local_gb: 0 }

/** The size of a server: what it has of the ledger. */
function sizeOf({ groups }: Wish): Size {
  const of = (name: string) => Object.values(groups).reduce((sum, { resources }) => sum + (resources[name] ?? 0), 0)
  return { vcpus: of('VCPU'), memory_mb: of('MEMORY_MB'), local_gb: of('DISK_GB') }
}

export const shownSize = (wish: JsonText<Wish>): Size => sizeOf(shownIn(wish, WISH))

const plus = (sum: Size, size: Size, times: number): Size => ({
  vcpus: sum.vcpus + size.vcpus * times,
  memory_mb: sum.memory_mb + size.memory_mb * times,
  local_gb: sum.local_gb + size.local_gb * times,
})

interface Alike {
  project_id: string
  wish: JsonText<Wish>
  count: number
}

/** Servers of one project and one size, counted together. */
const alike = (db: Kysely<Schema>) =>
  db
    .selectFrom('servers')
    .select(e => ['project_id', 'wish', e.fn.countAll<number>().as('count')])
    .groupBy(['project_id', 'wish'])
const alikeOf = query((db, a: { project: string }) => alike(db).where('project_id', '=', a.project))
const alikeOn = query((db, a: { host: ProviderId }) => alike(db).where('host_id', '=', a.host).orderBy('project_id'))

const total = (rows: readonly Alike[]): Size =>
  rows.reduce((sum, { wish, count }) => plus(sum, shownSize(wish), count), NOTHING)

/** The number of a project's servers, and their sizes together. */
export function* presentUse(project: string): Read<Size & { servers: number }> {
  const rows = yield* all(alikeOf({ project }))
  return { servers: rows.reduce((sum, { count }) => sum + count, 0), ...total(rows) }
}

/** What the servers on a host take, by project. */
export function* useOfHost(host: ProviderId): Read<Map<string, Size>> {
  const rows = yield* all(alikeOn({ host }))
  return new Map([...Map.groupBy(rows, row => row.project_id)].map(([project, some]) => [project, total(some)]))
}

export interface Period {
  from: number
  until: number
}

type Args = Period & { project: string | null }

const isMeant = (a: Args) =>
  sql<boolean>`(cast(${a.project} as text) is null or servers.project_id = cast(${a.project} as text))`

const ranIn = query((db, a: Args) =>
  alike(db)
    .select(
      sql<number>`cast(sum(cast(${a.until} as bigint) - case when launched_at > ${a.from} then launched_at else ${a.from} end) as bigint)`.as(
        'ms',
      ),
    )
    .where('launched_at', '<', a.until)
    .where(isMeant(a))
    .orderBy('project_id'),
)
const eachIn = query((db, a: Args & { limit: number }) =>
  db
    .selectFrom('servers')
    .leftJoin('flavors', 'flavors.id', 'servers.flavor_id')
    .select(['servers.uuid', 'servers.name', 'servers.project_id', 'servers.wish', 'servers.status'])
    .select(['servers.launched_at', 'flavors.name as flavor'])
    .where('servers.launched_at', '<', a.until)
    .where(isMeant(a))
    .orderBy('servers.id')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)

export interface ProjectUsage {
  project: string
  ms: number
  /** Each size times how long servers had it, in milliseconds. */
  sizeMs: Size
}

/** How long the servers of each project ran in a period, or of one project. */
export function* usageIn(period: Period, project: string | null): Read<ProjectUsage[]> {
  const rows = yield* all(ranIn({ ...period, project }))
  return [...Map.groupBy(rows, row => row.project_id)].map(([project, some]) => ({
    project,
    ms: some.reduce((sum, { ms }) => sum + ms, 0),
    sizeMs: some.reduce((sum, { wish, ms }) => plus(sum, shownSize(wish), ms), NOTHING),
  }))
}

export interface ServerUsage {
  uuid: string
  name: string
  project_id: string
  /** Null when the flavor is deleted. */
  flavor: string | null
  wish: JsonText<Wish>
  status: Status
  launched_at: number | null
}

/** The servers that ran in a period, the oldest first, up to a page. */
export function* serversIn(period: Period, project: string | null): Read<ServerUsage[]> {
  return yield* all(eachIn({ ...period, project, limit: limits.serverPageMax }))
}
