// What a project used lately: node-milliseconds, of which those of a half-life ago count half. Pure.
import type { Selectable } from 'kysely'
import type { Schema } from '../../store/schema.ts'

export type Usage = Selectable<Schema['project_usages']>

/** A project has, or had, a node. */
export interface Use {
  project_id: string
  from_at: number
}

export interface EndedUse extends Use {
  until_at: number
}

/** What is left of an amount after a time. */
const faded = (amount: number, ms: number, halfLifeMs: number): number => amount * 2 ** -(Math.max(0, ms) / halfLifeMs)

/** What the use of a node counts at `now`: each moment of it has faded since. */
export function countOf(from: number, until: number, now: number, halfLifeMs: number): number {
  const since = (at: number) => faded(1, now - at, halfLifeMs)
  return Math.max(0, ((since(Math.min(until, now)) - since(from)) * halfLifeMs) / Math.LN2)
}

interface Counted {
  before: readonly Usage[]
  /** What has ended since, each counted once. */
  ended: readonly EndedUse[]
  running: readonly Use[]
}

/** The usages at `now`. Projects that have nothing and used nothing that still counts are left out. */
export function usagesAt({ before, ended, running }: Counted, halfLifeMs: number, now: number): Usage[] {
  const usages = new Map(
    before.map(row => {
      const left = faded(row.ended, now - row.counted_at, halfLifeMs)
      // A clock that was wrong may have served it in the future.
      const served_at = Math.min(row.served_at, now)
      return [row.project_id, { ...row, ended: left, used: left, served_at, counted_at: now }]
    }),
  )
  const usageOf = ({ project_id, from_at }: Use): Usage => {
    const none = { project_id, ended: 0, used: 0, served_at: Math.min(from_at, now), counted_at: now }
    const usage = usages.getOrInsert(project_id, none)
    usage.served_at = Math.max(usage.served_at, Math.min(from_at, now))
    return usage
  }
  for (const use of ended) {
    const usage = usageOf(use)
    const count = countOf(use.from_at, use.until_at, now, halfLifeMs)
    usage.ended += count
    usage.used += count
  }
  const isRunning = new Set<string>()
  for (const use of running) {
    usageOf(use).used += countOf(use.from_at, now, now, halfLifeMs)
    isRunning.add(use.project_id)
  }
  return [...usages.values()]
    .map(usage => ({ ...usage, ended: Math.floor(usage.ended), used: Math.floor(usage.used) }))
    .filter(({ project_id, used }) => used > 0 || isRunning.has(project_id))
}
