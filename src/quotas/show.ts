// Shows the limits of a project and its usage.
import { shownIn } from '../shared/json.ts'
import type { Read } from '../store/transaction.ts'
import { COUNTED, DEFAULT, limitsOf, LONGEST, NODES_OF } from './limits.ts'
import { type Kind, kindOf, usageOf } from './usage.ts'
import { shownAmount } from './within.ts'

export interface ShownLimit {
  name: string
  /** Null for no limit. */
  max: number | null
  /** Null for limits on a duration, and for the default limits. */
  used: number | null
  isDefault: boolean
}

const EVERY_KIND: ReadonlySet<Kind> = new Set(['nodes', 'servers', 'leases', 'texts'])

/** Every limit by its fixed name, and the limits by class that apply. */
export function* showQuota(project: string, now: number): Read<ShownLimit[]> {
  const isOfAll = project === DEFAULT
  const limits = yield* limitsOf(project)
  const usage = isOfAll ? new Map<string, number>() : yield* usageOf(project, EVERY_KIND, now, shownIn)
  const classes = [...limits.keys()].filter(name => name.startsWith(NODES_OF)).toSorted()
  return [...COUNTED, ...classes, ...LONGEST].map(name => {
    const { max = null, isDefault = false } = limits.get(name) ?? {}
    const isCounted = !isOfAll && kindOf(name) !== null
    return { name, max, used: isCounted ? shownAmount(usage.get(name) ?? 0) : null, isDefault }
  })
}
