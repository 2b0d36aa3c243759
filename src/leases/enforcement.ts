// The operator's limits on leases: how long a lease may be, and how many hours of leases a project may have ahead.
import { sql } from 'kysely'
import { problem } from '../problems/problem.ts'
import { command } from '../store/statement.ts'
import { type Read, run, type Write } from '../store/transaction.ts'
import type { LeaseSettings } from './context.ts'
import { aheadOf } from './lifecycle/rows.ts'

const HOUR_MS = 3_600_000

export interface Limited {
  id: string
  project_id: string
  start_at: number
  end_at: number
}

const isExempt = ({ leaseExemptProjects }: LeaseSettings, project: string) =>
  leaseExemptProjects.split(',').includes(project)

export function checkLength(
  config: LeaseSettings,
  project: string,
  { start_at, end_at }: Pick<Limited, 'start_at' | 'end_at'>,
): void {
  const secondsMax = config.leaseSecondsMax
  const seconds = Math.ceil((end_at - start_at) / 1_000)
  if (secondsMax === 0 || seconds <= secondsMax || isExempt(config, project)) return
  throw problem('lease_not_allowed', {
    reason: `Lease duration of ${seconds} seconds must be less than or equal to the maximum lease duration of ${secondsMax} seconds.`,
  })
}

// One booking at a time for a project: two at once could each pass the check and exceed the limit together.
const lockProject = command((db, a: { project: string }, on) =>
  db.selectNoFrom(
    (on.dialect === 'postgres' ? sql`pg_advisory_xact_lock(8782, hashtext(${a.project}))` : sql`1`).as('locked'),
  ),
)

/** Checks the project's remaining lease hours with this lease, under the lock of the project. */
export function* checkAhead(config: LeaseSettings, lease: Limited, now: number): Write<void> {
  if (!hasHours(config, lease.project_id)) return
  yield* run(lockProject({ project: lease.project_id }))
  yield* checkHours(config, lease, now)
}

const hasHours = (config: LeaseSettings, project: string) => config.leaseHoursMax > 0 && !isExempt(config, project)

function* checkHours(config: LeaseSettings, lease: Limited, now: number): Read<void> {
  const hoursMax = config.leaseHoursMax
  if (!hasHours(config, lease.project_id)) return
  const others = (yield* aheadOf(lease.project_id, now)).filter(({ id }) => id !== lease.id)
  const ms = [...others, lease].reduce((sum, { start_at, end_at }) => sum + end_at - Math.max(start_at, now), 0)
  if (ms <= hoursMax * HOUR_MS) return
  throw problem('lease_not_allowed', {
    reason: `With this lease the project would have ${(ms / HOUR_MS).toFixed(1)} hours of leases before it, and ${hoursMax} are allowed.`,
  })
}
