// The limits of a project: its own, and the default limits for the rest.
import { problem } from '../problems/problem.ts'
import { limits as bounds } from '../shared/limits.ts'
import { command, query } from '../store/statement.ts'
import { all, mark, type Read, runAll, type Write } from '../store/transaction.ts'

/** MiB of large texts. */
export const STORED = 'stored_mib'
/** Limits on amounts. Nodes can also be limited by class: `nodes:gpu`. */
export const COUNTED = ['nodes', 'instances', 'vcpus', 'leases', 'lease_hours', STORED] as const
/** Limits on how long one hold, allocation or lease may last, in hours. */
export const LONGEST = ['longest_hold_hours', 'longest_allocation_hours', 'longest_lease_hours'] as const
export type Longest = (typeof LONGEST)[number]
export const NODES_OF = 'nodes:'

const NAMES: ReadonlySet<string> = new Set([...COUNTED, ...LONGEST])
const CLASS = /^nodes:.{1,80}$/

export const isLimit = (name: string): boolean => NAMES.has(name) || CLASS.test(name)

/** The name that clients use for the default limits. */
export const DEFAULT = 'default'
const EVERYONE = ''
const idOf = (project: string) => (project === DEFAULT ? EVERYONE : project)
const nameOf = (id: string) => (id === EVERYONE ? DEFAULT : id)

/** No limit, even if there is a default. */
const UNLIMITED = -1

const applying = query((db, a: { project: string }) =>
  db
    .selectFrom('quotas')
    .selectAll()
    .where(e => e.or([e('project_id', '=', a.project), e('project_id', '=', EVERYONE)])),
)
export const quotasAmong = query((db, a: { projects: readonly string[] }, on) =>
  db
    .selectFrom('quotas')
    .selectAll()
    .where(e => e.or([on.isIn('project_id', a.projects), e('project_id', '=', EVERYONE)])),
)
const ofProject = query((db, a: { project: string }) =>
  db.selectFrom('quotas').select(['name', 'max']).where('project_id', '=', a.project).orderBy('name'),
)
const every = query((db, _: object) => db.selectFrom('quotas').selectAll().orderBy('project_id').orderBy('name'))
const put = command((db, a: { project: string; name: string; max: number }) =>
  db
    .insertInto('quotas')
    .values({ project_id: a.project, name: a.name, max: a.max })
    .onConflict(c => c.columns(['project_id', 'name']).doUpdateSet({ max: a.max })),
)
const drop = command((db, a: { project: string; name: string }) =>
  db.deleteFrom('quotas').where('project_id', '=', a.project).where('name', '=', a.name),
)

export interface Limit {
  max: number
  /** The project has no own limit of this name. */
  isDefault: boolean
}

/** The limits that apply to a project, by name. */
export function* limitsOf(project: string): Read<Map<string, Limit>> {
  return limitsIn(yield* all(applying({ project: idOf(project) })), idOf(project))
}

/** The limits that apply to a project, from rows that have its own and the default ones. */
export function limitsIn(
  rows: readonly { project_id: string; name: string; max: number }[],
  project: string,
): Map<string, Limit> {
  const found = new Map<string, Limit>()
  for (const { project_id, name, max } of rows) {
    const isDefault = project_id === EVERYONE
    if (!isDefault && project_id !== project) continue
    if (!isDefault || !found.has(name)) found.set(name, { max, isDefault })
  }
  // The only limit that is there before anyone sets one.
  if (!found.has(STORED)) found.set(STORED, { max: bounds.storedMibDefault, isDefault: true })
  for (const [name, { max }] of found) if (max === UNLIMITED) found.delete(name)
  return found
}

/** A project's own limits. */
interface Quota {
  project: string
  limits: Record<string, number>
}

export function* listQuotas(): Read<Quota[]> {
  const found = Map.groupBy(yield* all(every({})), row => row.project_id)
  return [...found].map(([id, rows]) => ({
    project: nameOf(id),
    limits: Object.fromEntries(rows.map(({ name, max }) => [name, max])),
  }))
}

/** Nothing can be set for a project whose id is longer than any is. */
export function requireProjectId(project: string): void {
  if (project.length <= bounds.nameCharsMax) return
  throw problem('quota_invalid', { reason: `The id of a project has at most ${bounds.nameCharsMax} characters.` })
}

/** Sets the given limits; null removes one. The others stay. */
export function* setQuota(project: string, changes: Readonly<Record<string, number | null>>): Write<void> {
  requireProjectId(project)
  const id = idOf(project)
  const calls = Object.entries(changes).map(([name, max]) =>
    max === null ? drop({ project: id, name }) : put({ project: id, name, max }),
  )
  yield* runAll(calls)
  yield* markQuota(project)
  const { length } = yield* all(ofProject({ project: id }))
  if (length > bounds.quotaLimitsMax) {
    throw problem('quota_invalid', { reason: `A project may have at most ${bounds.quotaLimitsMax} limits.` })
  }
}

/** Removes all of a project's own limits. */
export function* deleteQuota(project: string): Write<void> {
  const id = idOf(project)
  const present = yield* all(ofProject({ project: id }))
  if (present.length === 0) throw problem('quota_not_found', { project })
  yield* runAll(present.map(({ name }) => drop({ project: id, name })))
  yield* markQuota(project)
}

const markQuota = (project: string) => mark({ kind: 'quota', id: project })
