// Enforces quotas: the usage is counted before and after a change, in the same transaction. A change is refused only if
// it takes the project further beyond a limit.
import { sql } from 'kysely'
import { problem } from '../problems/problem.ts'
import type { Excess } from '../problems/quotas.ts'
import { command } from '../store/statement.ts'
import { one, type Read, sideBySide, type Write } from '../store/transaction.ts'
import { type Limit, type Longest, limitsOf } from './limits.ts'
import { type Kind, kindOf, type Usage, usageOf } from './usage.ts'

export type Limits = ReadonlyMap<string, Limit>

const NONE: Limits = new Map()

// One change at a time for a project, or two could pass the check and exceed a limit together. Locked first of all.
const standInLine = command((db, a: { project: string }, on) =>
  db.selectNoFrom(
    (on.dialect === 'postgres'
      ? sql`cast(pg_advisory_xact_lock(8784, hashtext(cast(${a.project} as text))) as text)`
      : sql`1`
    ).as('turn'),
  ),
)

export interface Promised {
  /** The project that the usage counts for; null has no limits. */
  project: string | null
  kinds: readonly Kind[]
  now: number
}

/** Does the work, and refuses it if the project then exceeds a limit. */
export function* withinQuota<T>({ project, kinds, now }: Promised, work: (limits: Limits) => Write<T>): Write<T> {
  const limits = yield* limitsFor(project)
  const limited = limitedOf(limits, kinds)
  if (project === null || limited.size === 0) return yield* work(limits)
  yield* one(standInLine({ project }))
  const before = yield* usageOf(project, limited, now)
  const done = yield* work(limits)
  requireNoExcess(limits, before, yield* usageOf(project, limited, now))
  return done
}

/**
 * Does the same, with work that begins before the limits are known, in the same round trip. So the project's changes of
 * this kind stand in line even if it has no limit.
 */
export function* withinQuotaBeside<T, Begun>(
  { project, kinds, now }: Promised & { project: string },
  begin: Write<Begun>,
  work: (limits: Limits, begun: Begun) => Write<T>,
): Write<T> {
  const [limits, begun] = yield* sideBySide([limitsInLine(project), begin])
  const limited = limitedOf(limits, kinds)
  if (limited.size === 0) return yield* work(limits, begun)
  const before = yield* usageOf(project, limited, now)
  const done = yield* work(limits, begun)
  requireNoExcess(limits, before, yield* usageOf(project, limited, now))
  return done
}

function* limitsInLine(project: string): Write<Limits> {
  const [, limits] = yield* sideBySide([one(standInLine({ project })), limitsOf(project)])
  return limits
}

/** The kinds that have a limit. */
const limitedOf = (limits: Limits, kinds: readonly Kind[]): Set<Kind> =>
  new Set(kinds).intersection(new Set([...limits.keys()].map(kindOf)))

/** Whether there is a limit of this kind, or on how long it lasts. */
export const isLimited = (limits: Limits, kind: Kind, longest: Longest): boolean =>
  limits.has(longest) || limitedOf(limits, [kind]).size > 0

export function* limitsFor(project: string | null): Read<Limits> {
  return project === null ? NONE : yield* limitsOf(project)
}

/** Hours are shown to a tenth. */
export const shownAmount = (amount: number): number => Math.round(amount * 10) / 10

function requireNoExcess(limits: Limits, before: Usage, after: Usage): void {
  const over = excessOf(limits, before, after)
  if (over.length > 0) throw problem('quota_exceeded', { over })
}

/** The limits that the change exceeds. */
function excessOf(limits: Limits, before: Usage, after: Usage): Excess[] {
  return [...limits]
    .map(([name, { max }]) => ({ name, max, used: before.get(name) ?? 0, now: after.get(name) ?? 0 }))
    .filter(({ max, used, now }) => now > max && now > used)
    .map(({ name, max, used, now }) => ({ name, max, used: shownAmount(used), asked: shownAmount(now - used) }))
}

const HOUR_MS = 3_600_000

/** How long something is to last; `until` is null for ever. */
interface Term {
  from: number
  until: number | null
  /** The present end, if it is only changed: it may always become shorter. */
  present?: number | null
}

/** Refuses a term that is longer than the limit. */
export function requireTerm(limits: Limits, name: Longest, { from, until, present }: Term): void {
  const max = limits.get(name)?.max
  if (max === undefined) return
  const isLonger = present === undefined || (present !== null && (until === null || until > present))
  if (!isLonger || (until !== null && until - from <= max * HOUR_MS)) return
  throw problem('quota_too_long', { name, max, hours: until === null ? null : shownAmount((until - from) / HOUR_MS) })
}

/** Checks in advance whether `asked` would exceed a limit. The transaction of the change checks again. */
export function* requireRoom({ project, kinds, now }: Promised, asked: Usage): Read<void> {
  const limits = yield* limitsFor(project)
  const limited = limitedOf(limits, kinds)
  if (project === null || limited.size === 0) return
  const present = yield* usageOf(project, limited, now)
  const after = new Map([...present].map(([name, amount]) => [name, amount + (asked.get(name) ?? 0)]))
  requireNoExcess(limits, present, after)
}
