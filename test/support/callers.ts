// Tokens of noauth2 for tests: a user, a project, roles.
import type { Options } from './client.ts'

/** A caller with these roles in a project. */
export const as = (roles: string, project: string): Options => ({
  token: `${roles.replaceAll(',', '-') || 'nobody'}:${project}`,
  headers: { 'x-roles': roles },
})

/** A caller with these roles for the whole system. */
export const asSystem = (roles: string): Options => ({
  token: 'system',
  headers: { 'x-roles': roles, 'openstack-system-scope': 'all' },
})
