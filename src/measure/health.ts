// How the service is, for operators: what the metrics know already, and who does the work.
import { sql } from 'kysely'
import { type Conductor, listConductors, workOfConductors } from '../metal/conductors/rows.ts'
import { DEFAULT, listQuotas } from '../quotas/limits.ts'
import { type ShownLimit, showQuota } from '../quotas/show.ts'
import type { Duty } from '../shared/duty.ts'
import { limits } from '../shared/limits.ts'
import type { Feed } from '../store/feed.ts'
import { PostgresStore } from '../store/postgres.ts'
import { query } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { one, type Read } from '../store/transaction.ts'
import type { Census } from './census.ts'
import type { Metrics, Totals } from './metrics.ts'

const serverVersion = query((db, _: object, on) =>
  db.selectNoFrom(
    sql<string>`${sql.raw(on.dialect === 'sqlite' ? 'sqlite_version()' : "current_setting('server_version')")}`.as(
      'version',
    ),
  ),
)

interface Pool {
  connections: number
  idle: number
  waiting: number
}

export interface Health {
  conductors: readonly (Conductor & { atWork: number })[]
  totals: Totals
  database: { kind: Store['dialect']; version: string; pool: Pool | null }
  /** Null where there are no other processes. */
  feed: Pick<Feed, 'backlog' | 'behindSeconds'> | null
  duties: readonly ReturnType<Duty['look']>[]
  /** Null when it could not be counted. */
  lateEvents: number | null
  unsealed: number | null
  quotas: readonly { project: string; limits: readonly ShownLimit[] }[]
}

interface HealthOptions {
  store: Store
  census: Census
  metrics: Metrics
  feed: Feed | null
  duties: readonly Duty[]
  now: number
}

export async function healthOf({ store, census, metrics, feed, duties, now }: HealthOptions): Promise<Health> {
  const { version, conductors, quotas } = await store.read(() => readAll(now))
  const samples = await census.samples()
  const sampled = (name: string) => samples?.find(sample => sample.name === name)?.value ?? null
  return {
    conductors,
    totals: await metrics.totals(),
    database: { kind: store.dialect, version, pool: store instanceof PostgresStore ? poolOf(store) : null },
    feed,
    duties: duties.map(duty => duty.look()),
    lateEvents: sampled('holdfast_lease_events_late'),
    unsealed: sampled('holdfast_audit_unsealed'),
    quotas,
  }
}

function* readAll(now: number): Read<Pick<Health, 'conductors' | 'quotas'> & { version: string }> {
  const { version } = (yield* one(serverVersion({})))!
  const work = yield* workOfConductors()
  const conductors = (yield* listConductors()).map(one => ({ ...one, atWork: work.get(one.incarnation) ?? 0 }))
  const projects = (yield* listQuotas()).map(({ project }) => project).filter(project => project !== DEFAULT)
  const quotas: { project: string; limits: ShownLimit[] }[] = []
  for (const project of projects.slice(0, limits.healthQuotasMax)) {
    const shown = yield* showQuota(project, now)
    quotas.push({ project, limits: shown.filter(({ max, used }) => max !== null || used !== null) })
  }
  return { version, conductors, quotas }
}

function poolOf({ pools }: PostgresStore): Pool {
  const sum = (count: 'totalCount' | 'idleCount') => pools.all.reduce((total, pool) => total + pool[count], 0)
  return { connections: sum('totalCount'), idle: sum('idleCount'), waiting: pools.waiting }
}
