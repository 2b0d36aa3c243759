// Reads the table of who may do what.
import type { Caller } from '../../identity/caller.ts'
import { type ComputeAction, computePolicy } from './policy.ts'

/** A role comes with those above it; service is apart from them. */
const HELD_WITH: Record<string, readonly string[]> = {
  reader: ['reader', 'member', 'admin'],
  member: ['member', 'admin'],
  admin: ['admin'],
  service: ['service'],
}

/** What belongs to a project is looked up among the caller's own, so here only the role is left to ask for. */
export function allows(action: ComputeAction, { roles, systemScope }: Caller): boolean {
  return computePolicy[action].split(' or ').some(rule => {
    if (rule === 'everyone') return true
    const [role, scope] = rule.split(' ').toReversed() as [string, string | undefined]
    return (scope !== 'system' || systemScope) && (HELD_WITH[role] ?? []).some(held => roles.has(held))
  })
}
