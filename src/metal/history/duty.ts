// The duty that keeps the history of nodes within bounds: the newest lines of each node, and none that are too old.
import type { Logger } from 'pino'
import type { Clock } from '../../clock/clock.ts'
import { Duty } from '../../shared/duty.ts'
import { limits } from '../../shared/limits.ts'
import type { Store } from '../../store/store.ts'
import { crowdedNodes, pruneByAge, pruneByNumber } from './rows.ts'

const DAY_MS = 24 * 60 * 60_000

interface HistoryDutyOptions {
  store: Store
  clock: Clock
  log: Logger
  /** So many lines of each node; 0 keeps all. */
  keep: number
  /** 0 keeps them for ever. */
  keepDays: number
}

export function historyDuty({ store, clock, log, keep, keepDays }: HistoryDutyOptions): Duty {
  const run = async () => {
    if (keepDays > 0) while (await store.write(() => pruneByAge(clock.now() - keepDays * DAY_MS)));
    for (const node of keep > 0 ? await store.read(() => crowdedNodes(keep)) : []) {
      while (await store.write(() => pruneByNumber(node, keep)));
    }
    return null
  }
  return new Duty({ name: 'history', pollMs: limits.historyPruneMs, run, log })
}
