// /v3/users
import type { User } from '../../identity/directory.ts'
import { problem } from '../../problem.ts'
import { isIn, matches } from './projects.ts'
import { type Answer, DOMAIN, type IdentityRequest, listOf } from './request.ts'

export function listUsers(request: IdentityRequest): Answer {
  const { directory, caller, query } = request
  // In mode `none` there is no list of users, but the caller is there.
  const self = caller.userName === undefined ? null : directory.user(caller.userName)
  const known = directory.users
  const every = self && !known.some(({ id }) => id === self.id) ? [...known, self] : known
  const name = query.get('name')
  const named = name === null ? null : directory.user(name)
  const wanted = name === null ? every : named ? [named] : []
  const found = wanted.filter(user => isIn(query, DOMAIN.id) && matches(query, user))
  const items = found.map(user => shown(user, request))
  return listOf(request, 'users', '/users', items)
}

export function showUser(request: IdentityRequest): Answer {
  const id = request.param('user')
  const { directory, caller } = request
  const isSelf = caller.user === id && caller.userName !== undefined
  const found = isSelf ? directory.user(caller.userName) : directory.userWithId(id)
  if (!found) throw problem('identity_not_found', { what: 'user', name: id })
  return { status: 200, body: { user: shown(found, request) } }
}

function shown(user: User, request: IdentityRequest): object {
  const byDefault = user.defaultProject === null ? null : request.directory.project(user.defaultProject)
  return {
    id: user.id,
    name: user.name,
    enabled: user.isEnabled,
    domain_id: DOMAIN.id,
    ...(byDefault && { default_project_id: byDefault.id }),
    password_expires_at: null,
    options: {},
    links: { self: request.link(`/users/${user.id}`) },
  }
}
