// Entries about what conductors do by themselves, or for a request that was answered long ago.
import type { Entry, Outcome } from './entry.ts'

export interface Deed {
  action: string
  outcome: Outcome
  /** Whose thing it was done to, where it has an owner. */
  project?: string | null
  /** The request that asked for it, where that is known. */
  request?: string | null | undefined
}

/** Makes the entry about a deed; there is none when nothing is written down. */
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
