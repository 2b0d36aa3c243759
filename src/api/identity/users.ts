// /v3/users
import type { User } from '../../identity/directory.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { Document, Flag, named, Text } from '../shapes.ts'
import { isWanted, LIST } from './projects.ts'
import { type Answer, directoryOf, DOMAIN, type IdentityRequest, linkTo, listOf, listShape, Self } from './request.ts'
import { Type } from '../../shared/type.ts'

export const UserShape = named('User', {
  id: Text,
  name: Text,
  enabled: Flag,
  domain_id: Text,
  default_project_id: Type.Optional(Text),
  password_expires_at: Type.Null(),
  options: Document,
  links: Self,
})

listUsers.operation = {
  summary: 'List the users that match',
  query: [LIST],
  answers: { 200: listShape('users', UserShape) },
} satisfies Operation

export function listUsers(request: IdentityRequest): Answer {
  const { caller } = request
  const directory = directoryOf(request)
  // In mode `none` the directory lists no users, but the caller is one.
  const self = caller.userName === undefined ? null : directory.user(caller.userName)
  const known = directory.users
  const every = self && !known.some(({ id }) => id === self.id) ? [...known, self] : known
  const name = request.parameter('name')
  const named = name === null ? null : directory.user(name)
  const wanted = name === null ? every : named ? [named] : []
  const found = wanted.filter(user => isWanted(request, user))
  const items = found.map(user => shown(user, request))
  return listOf(request, 'users', '/users', items)
}

showUser.operation = { summary: 'Show a user', answers: { 200: Type.Object({ user: UserShape }) } } satisfies Operation

export function showUser(request: IdentityRequest): Answer {
  const id = request.param('user')
  const { caller } = request
  const directory = directoryOf(request)
  const isSelf = caller.user === id && caller.userName !== undefined
  const found = isSelf ? directory.user(caller.userName) : directory.userWithId(id)
  if (!found) throw problem('identity_not_found', { what: 'user', name: id })
  return { status: 200, body: { user: shown(found, request) } }
}

/** The user with that id, as it is now. */
export function showUserWithId(request: IdentityRequest, id: string): Answer {
  const found = directoryOf(request).userWithId(id)
  if (!found) throw problem('identity_not_found', { what: 'user', name: id })
  return { status: 200, body: { user: shown(found, request) } }
}

function shown(user: User, request: IdentityRequest): object {
  const byDefault = user.defaultProject === null ? null : directoryOf(request).project(user.defaultProject)
  return {
    id: user.id,
    name: user.name,
    enabled: user.isEnabled,
    domain_id: DOMAIN.id,
    ...(byDefault && { default_project_id: byDefault.id }),
    password_expires_at: null,
    options: {},
    links: { self: linkTo(request, `/users/${user.id}`) },
  }
}
