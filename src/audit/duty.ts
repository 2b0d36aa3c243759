// The duty that seals audit entries soon after they are written, and drops old ones if configured.
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import { Duty } from '../shared/duty.ts'
import { limits } from '../shared/limits.ts'
import type { Store } from '../store/store.ts'
import { pruneSealed, sealNext } from './seals.ts'

const DAY_MS = 24 * 60 * 60_000

interface AuditDutyOptions {
  store: Store
  clock: Clock
  log: Logger
  /** 0 keeps entries for ever. */
  keepDays: number
}

export function auditDuty({ store, clock, log, keepDays }: AuditDutyOptions): Duty {
  const run = async () => {
    await store.ordered()
    while ((await store.write(() => sealNext(clock.now()))) === limits.auditSealEntries);
    if (keepDays > 0) while ((await store.write(() => pruneSealed(clock.now() - keepDays * DAY_MS))) > 0);
    return null
  }
  return new Duty({ name: 'audit', pollMs: limits.auditSealMs, run, log })
}
