// The problems of leases, and their messages.

export const LEASE_PROBLEMS = {
  /** The request itself is wrong: its dates, amounts or properties. */
  lease_invalid: (f: { reason: string }) => f.reason,
  lease_not_found: (f: { lease: string }) => `Lease ${f.lease} could not be found.`,
  lease_exists: (f: { lease: string }) => `A lease with id ${f.lease} already exists.`,
  reservation_not_found: (f: { reservation: string; lease: string }) =>
    `Reservation ${f.reservation} is not one of lease ${f.lease}.`,
  /** A rule of the operator forbids it: it is too long or too much, or the external service refused it. */
  lease_not_allowed: (f: { reason: string }) => f.reason,
  lease_does_not_fit: (f: { reason: string; details: Refusal }) => f.reason,
  /** The lease's state doesn't allow it. */
  lease_refuses: (f: { reason: string }) => f.reason,
  host_not_found: (f: { host: string }) => `Host ${f.host} could not be found.`,
  host_unnamed: (_: object) => 'A host needs the name or the id of a hypervisor.',
  host_exists: (f: { host: string }) => `Host ${f.host} is already there.`,
  host_in_use: (f: { reason: string }) => f.reason,
  host_invalid: (f: { reason: string }) => f.reason,
  property_not_found: (f: { name: string }) => `Resource property ${f.name} could not be found.`,
} as const

/** Why a request doesn't fit, and when it would. */
export interface Refusal {
  reasons: readonly RefusalReason[]
  /** The next windows of the same length in which all of it would fit. */
  windows: readonly { start_at: number; end_at: number }[]
}

/** One reason, and how many hosts or nodes it applies to; `free` counts those that would fit. */
export interface RefusalReason {
  /** Which of the request's reservations, counted from 0. */
  reservation: number
  reason: string
  count: number
  sample: readonly { host: string; detail: string }[]
}
