// Audit entries about the work of conductors, which happens without a request or long after its answer.
import type { Clock } from '../clock/clock.ts'
import { BY_CONDUCTOR, type Entry, type Outcome, withoutActor } from './entry.ts'

export interface Deed {
  action: string
  outcome: Outcome
  /** The project that owns the changed object, if there is one. */
  project?: string | null
  /** The id of the request that asked for it, if known. */
  request?: string | null | undefined
}

/** Makes the entry about a deed. */
export type Witness = (deed: Deed) => Entry

/** The witness of a conductor, or of the duties of a process. While the audit is off it names nobody. */
export function witnessOf({ clock, isAudited }: { clock: Clock; isAudited: boolean }, hostname: () => string): Witness {
  const seen = (deed: Deed) => conductorEntry(deed, hostname(), clock.now())
  return isAudited ? seen : deed => withoutActor(seen(deed))
}

const conductorEntry = ({ action, outcome, project, request }: Deed, hostname: string, now: number): Entry => ({
  at: now,
  requestId: request ?? null,
  user: 'conductor',
  project: project ?? null,
  roles: '',
  address: hostname,
  action: `${BY_CONDUCTOR}${action}`,
  outcome,
})
