// Records logins in the audit, granted and refused. The throttle bounds the number of refusals.
import { recordAll } from '../audit/record.ts'
import type { Write } from '../store/transaction.ts'
import { limits } from '../shared/limits.ts'
import type { Caller } from './caller.ts'
import type { Method } from './token-text.ts'

export type Refused = 'unknown name' | 'wrong secret' | 'disabled or over'

export interface LoginDeed {
  method: Method | 'basic'
  address: string
  /** The user's name, or the name that was tried. */
  name: string
  /** The caller, or the reason for the refusal. */
  outcome: Caller | Refused
}

export function* recordLogin({ method, address, name, outcome }: LoginDeed, now: number): Write<void> {
  const caller = typeof outcome === 'string' ? null : outcome
  const entry = {
    at: now,
    requestId: null,
    user: caller?.user ?? 'nobody',
    project: caller?.project ?? null,
    roles: [...(caller?.roles ?? [])].join(),
    address,
    action: 'identity:login',
    outcome: caller ? 'done' : 'failed',
  } as const
  const subjects = [
    { kind: 'user', id: name.slice(0, limits.loginNameCharsMax) },
    { kind: 'method', id: method },
  ]
  if (typeof outcome === 'string') subjects.push({ kind: 'reason', id: outcome })
  yield* recordAll([{ entry, subjects }])
}
