// Who may do what in the Compute API.
import type { Caller } from '../../identity/caller.ts'

/** read: whoever has a token; write: members of a project, for what is theirs; admin: what is everyone's. */
export type Rule = 'read' | 'write' | 'admin'

export const isAdmin = ({ roles }: Caller): boolean => roles.has('admin')

export function may(caller: Caller, rule: Rule): boolean {
  if (isAdmin(caller)) return true
  return rule === 'read' || (rule === 'write' && caller.roles.has('member'))
}
