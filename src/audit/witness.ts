// Audit entries about the work of conductors, which happens without a request or long after its answer.
import type { Entry, Outcome } from './entry.ts'

export interface Deed {
  action: string
  outcome: Outcome
  /** The project that owns the changed object, if there is one. */
  project?: string | null
  /** The id of the request that asked for it, if known. */
  request?: string | null | undefined
}

/** Makes the entry about a deed; null when the audit is off. */
export type Witness = ((deed: Deed) => Entry) | null

export const conductorEntry = ({ action, outcome, project, request }: Deed, hostname: string, now: number): Entry => ({
  at: now,
  requestId: request ?? null,
  user: 'conductor',
  project: project ?? null,
  roles: '',
  address: hostname,
  action: `conductor:${action}`,
  outcome,
})
