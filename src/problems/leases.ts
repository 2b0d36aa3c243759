// The problems of leases, and their messages.

export const LEASE_PROBLEMS = {
  /** The request itself is wrong: its dates, amounts or properties. */
  lease_invalid: (f: { reason: string }) => f.reason,
  lease_not_found: (f: { lease: string }) => `Lease ${f.lease} could not be found.`,
  lease_exists: (f: { lease: string }) => `A lease with id ${f.lease} already exists.`,
  reservation_exists: (f: { reservation: string }) =>
    `A reservation or flavor with id ${f.reservation} already exists.`,
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
  /** With a Nova beside us. */
  hypervisor_not_in_nova: (f: { name: string }) => `Nova has no hypervisor and no compute service ${f.name}.`,
  hypervisor_without_provider: (f: { name: string; uuid: string }) =>
    `Nova's hypervisor ${f.name} has no resource provider ${f.uuid} of that name with VCPUs here. Its nova-compute makes one.`,
  nova_away: (f: { reason: string; retrySeconds: number }) => f.reason,
  property_not_found: (f: { name: string }) => `Resource property ${f.name} could not be found.`,
} as const

/** Why a request doesn't fit, and when it would. */
export interface Refusal {
  reasons: readonly RefusalReason[]
  /** When all of it would fit, for as long as was asked for. */
  windows: readonly FreeWindow[]
  /** The latest end with which it would fit from the start that was asked for; null if there is none. */
  until_at: number | null
  /** For each reservation by itself, how many there are at the time that was asked for, and how many it needs. */
  most: readonly { count: number; of: number }[]
}

export interface FreeWindow {
  start_at: number
  end_at: number
  /** It may start at any time until then. Null: at any later time, as far as is known. */
  last_start_at: number | null
}

/** One reason, and how many hosts or nodes it applies to; `free` counts those that would fit. */
export interface RefusalReason {
  /** Which of the request's reservations, counted from 0. */
  reservation: number
  reason: string
  count: number
  sample: readonly RefusalSample[]
}

export interface RefusalSample {
  /** The host's name, or the node's uuid. */
  host: string
  /** What people call it. */
  name: string
  detail: string
  /** When it is booked or in use; null where that doesn't apply, or nobody knows. */
  from: number | null
  until: number | null
  /** The lease that has it, if the caller may see that. */
  lease: { id: string; name: string; project_id: string; user_id: string } | null
}
