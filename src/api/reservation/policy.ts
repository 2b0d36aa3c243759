// Who may do what with leases and hosts: one line an action.
import type { Caller } from '../../identity/caller.ts'

type Role = 'admin' | 'member' | 'reader'

const LEAST = {
  'blazar:leases:list': 'reader',
  'blazar:leases:get': 'reader',
  'blazar:leases:post': 'member',
  'blazar:leases:put': 'member',
  'blazar:leases:delete': 'member',
  'blazar:oshosts:get': 'admin',
  'blazar:oshosts:post': 'admin',
  'blazar:oshosts:put': 'admin',
  'blazar:oshosts:delete': 'admin',
  'blazar:oshosts:get_allocations': 'admin',
  'blazar:oshosts:get_resource_properties': 'admin',
  'blazar:oshosts:update_resource_properties': 'admin',
} as const satisfies Record<string, Role>

export type Action = keyof typeof LEAST

const IMPLIED_BY: Record<Role, readonly Role[]> = {
  admin: ['admin'],
  member: ['admin', 'member'],
  reader: ['admin', 'member', 'reader'],
}

export function allows(action: Action, { roles }: Caller): boolean {
  return IMPLIED_BY[LEAST[action]].some(role => roles.has(role))
}
