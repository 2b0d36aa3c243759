// How projects stand in the queue: what admins set for them, and what they used lately.
import { requireProjectId } from '../../quotas/limits.ts'
import { command, query } from '../../store/statement.ts'
import { mark, one, type Read, run, together, wake, type Write } from '../../store/transaction.ts'
import { type Standing, type Standings, UNKNOWN } from './order.ts'
import { everyUsage } from './usage.ts'

const everyPriority = query((db, _: object) => db.selectFrom('project_priorities').selectAll().orderBy('project_id'))
const lockPriority = command((db, a: { project: string }, on) =>
  on.lock(db.selectFrom('project_priorities').selectAll().where('project_id', '=', a.project)),
)
const put = command((db, a: { project: string; priority: number; share: number }) =>
  db
    .insertInto('project_priorities')
    .values({ project_id: a.project, priority: a.priority, share: a.share })
    .onConflict(c => c.column('project_id').doUpdateSet({ priority: a.priority, share: a.share })),
)
const drop = command((db, a: { project: string }) =>
  db.deleteFrom('project_priorities').where('project_id', '=', a.project),
)

/** Of each project that something is set for, or that used something. */
export function* standingsNow(): Read<Standings> {
  const [priorities, usages] = yield* together(everyPriority({}), everyUsage({}))
  const standings = new Map<string, Standing>()
  for (const { project_id, used, served_at } of usages) {
    standings.set(project_id, { ...UNKNOWN, used, servedAt: served_at })
  }
  for (const { project_id, priority, share } of priorities) {
    standings.set(project_id, { ...(standings.get(project_id) ?? UNKNOWN), priority, share })
  }
  return standings
}

/** Sets what is given; the rest stays. What is as for all is not kept. */
export function* setPriority(
  project: string,
  { priority, share }: { priority?: number | undefined; share?: number | undefined },
): Write<void> {
  requireProjectId(project)
  const present = (yield* one(lockPriority({ project }))) ?? UNKNOWN
  const after = { priority: priority ?? present.priority, share: share ?? present.share }
  const isUsual = after.priority === UNKNOWN.priority && after.share === UNKNOWN.share
  yield* run(isUsual ? drop({ project }) : put({ project, ...after }))
  yield* mark({ kind: 'priority', id: project })
  yield* wake('allocations')
}

interface Shared {
  project: string
  standing: Standing
  /** Its part of all shares, and of all that was used lately; from 0 to 1. */
  due: number
  actual: number
}

/** All projects that stand, by name, with what each should have and what it had. */
export function sharesOf(standings: Standings): Shared[] {
  const all = [...standings]
  const shares = all.reduce((sum, [, { share }]) => sum + share, 0)
  const used = all.reduce((sum, [, standing]) => sum + standing.used, 0)
  return all
    .map(([project, standing]) => ({
      project,
      standing,
      due: standing.share / shares,
      actual: used === 0 ? 0 : standing.used / used,
    }))
    .toSorted((a, b) => (a.project < b.project ? -1 : 1))
}
