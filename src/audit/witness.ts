// Entries about what conductors do by themselves, or for a request that was answered long ago.
import type { Entry, Outcome } from './entry.ts'

export interface Deed {
  action: string
  outcome: Outcome
  /** The request that asked for it, where that is known. */
  request?: string | null | undefined
}

/** Makes the entry about a deed; there is none when nothing is written down. */
export type Witness = ((deed: Deed) => Entry) | null

export const conductorEntry = ({ action, outcome, request }: Deed, hostname: string, now: number): Entry => ({
  at: now,
  requestId: request ?? null,
  user: 'conductor',
  project: null,
  roles: '',
  address: hostname,
  action: `conductor:${action}`,
  outcome,
})
