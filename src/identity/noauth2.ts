// Placement's replacement for Keystone in tests: the token is the user's name. Never use it where others can connect.
import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from './caller.ts'

/** Reads `x-auth-token: USER[:PROJECT]`, and roles and scope from other headers; null without a token. */
export function callerFromNoauth2(headers: IncomingHttpHeaders): Caller | null {
  const token = headers['x-auth-token']
  if (typeof token !== 'string') return null
  const [user = '', project = user] = token.split(/:(.*)/s)
  const said = headers['x-roles']
  const roles = typeof said === 'string' ? said.split(',') : user === 'admin' ? ['admin'] : []
  const systemScope = headers['openstack-system-scope'] === 'all'
  const projectHeader = headers['x-project-id']
  return {
    user,
    project: systemScope ? null : typeof projectHeader === 'string' ? projectHeader : project || user,
    roles: new Set(roles.map(role => role.trim())),
    systemScope,
  }
}
