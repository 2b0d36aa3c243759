// Placement's replacement for Keystone in tests: the token is the user's name. Never use it where others can connect.
import type { IncomingHttpHeaders } from 'node:http'
import { BoundedMap } from '../shared/bounded-map.ts'
import { limits } from '../shared/limits.ts'
import type { Caller } from './caller.ts'

/** Callers of late, by the headers that make them: as other modes keep a caller with the token. */
const recent = new BoundedMap<string, Caller>(limits.noauth2CallersMax)

/** Reads `x-auth-token: USER[:PROJECT]`, and roles and scope from other headers; null without a token. */
export function callerFromNoauth2(headers: IncomingHttpHeaders): Caller | null {
  const token = headers['x-auth-token']
  if (typeof token !== 'string') return null
  const { 'x-roles': said, 'openstack-system-scope': scope, 'x-project-id': projectGiven } = headers
  // As JSON, so that a header that is missing differs from every text.
  const key = JSON.stringify([token, said, scope, projectGiven])
  const known = recent.get(key)
  if (known) return known
  const caller = callerOf(token, headers)
  if (key.length <= limits.noauth2CharsMax) recent.set(key, caller)
  return caller
}

function callerOf(token: string, headers: IncomingHttpHeaders): Caller {
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
