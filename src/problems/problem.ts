// Every failure that we can report to a client, with its message: a closed table, one file for each room. The domain
// throws them; each API maps them to its status codes.
import { Unreadable } from '../shared/json.ts'
import { CALENDAR_PROBLEMS } from './calendars.ts'
import { COMPUTE_PROBLEMS } from './compute.ts'
import { EVENT_PROBLEMS } from './events.ts'
import { IDENTITY_PROBLEMS } from './identity.ts'
import { LEASE_PROBLEMS } from './leases.ts'
import { LEDGER_PROBLEMS } from './ledger.ts'
import { METAL_PROBLEMS } from './metal.ts'
import { QUOTA_PROBLEMS } from './quotas.ts'
import { REQUEST_PROBLEMS } from './request.ts'
import { WEBHOOK_PROBLEMS } from './webhooks.ts'

const PROBLEMS = {
  ...REQUEST_PROBLEMS,
  ...LEDGER_PROBLEMS,
  ...METAL_PROBLEMS,
  ...COMPUTE_PROBLEMS,
  ...LEASE_PROBLEMS,
  ...QUOTA_PROBLEMS,
  ...CALENDAR_PROBLEMS,
  ...IDENTITY_PROBLEMS,
  ...EVENT_PROBLEMS,
  ...WEBHOOK_PROBLEMS,
}

export type RequestProblem = keyof typeof REQUEST_PROBLEMS
export type LedgerProblem = keyof typeof LEDGER_PROBLEMS
export type MetalProblem = keyof typeof METAL_PROBLEMS
export type IdentityProblem = keyof typeof IDENTITY_PROBLEMS
export type ComputeProblem = keyof typeof COMPUTE_PROBLEMS
export type LeaseProblem = keyof typeof LEASE_PROBLEMS
export type ProblemKind = keyof typeof PROBLEMS
type Facts<K extends ProblemKind> = Parameters<(typeof PROBLEMS)[K]>[0]

export class Problem extends Error {
  readonly kind: ProblemKind
  readonly facts: object
  constructor(kind: ProblemKind, message: string, facts: object = {}) {
    super(message)
    this.kind = kind
    this.facts = facts
  }

  /** Data for programs, where a sentence is not enough. */
  get details(): unknown {
    return 'details' in this.facts ? this.facts.details : undefined
  }
}

/** Whether it was refused, rather than failed: here and now, or because a row that it needs can't be read. */
export const isRefusal = (error: unknown): error is Problem | Unreadable =>
  error instanceof Problem || error instanceof Unreadable

export function problem<K extends ProblemKind>(kind: K, facts: Facts<K>): Problem {
  const say = PROBLEMS[kind] as (facts: Facts<K>) => string
  return new Problem(kind, say(facts), facts)
}
