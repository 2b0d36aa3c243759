// Makes, changes and deletes users, in the users file, and lets users change their own passwords.
import { addUser, changeUser, removeUser, replacePassword, type UserChange } from '../../identity/user-edits.ts'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Flag, orNull, Text } from '../shapes.ts'
import { make, projectAt, requireName, userAt, writerOf } from './changes.ts'
import { type Answer, bodyOf, callersToken, type IdentityRequest, issuerOf } from './request.ts'
import { showUserWithId, UserShape } from './users.ts'
import { Type } from '../../shared/type.ts'

const open = { additionalProperties: true }
const Name = Type.String({ minLength: 1, maxLength: 255 })
const Password = Type.String({ minLength: 1, maxLength: limits.passwordBytesMax })
const more = {
  password: Type.Optional(orNull(Password)),
  enabled: Type.Optional(Flag),
  default_project_id: Type.Optional(orNull(Text)),
}
const NEW = check(Type.Object({ user: Type.Object({ name: Name, ...more }, { title: 'NewUser', ...open }) }, open))
const CHANGE = check(
  Type.Object({ user: Type.Object({ name: Type.Optional(Name), ...more }, { title: 'UserChange', ...open }) }, open),
)
const PASSWORD = check(
  Type.Object(
    { user: Type.Object({ original_password: Password, password: Password }, { title: 'PasswordChange', ...open }) },
    open,
  ),
)

const Shown = Type.Object({ user: UserShape })

const hashed = (request: IdentityRequest, password: string) =>
  issuerOf(request).passwords.hash(password, request.context.clock.newSecret(16))

postUser.operation = {
  summary: 'Make a user, without a role yet; without a password nobody can log in as this user',
  body: [NEW],
  answers: { 201: Shown },
} satisfies Operation

export async function postUser(request: IdentityRequest): Promise<Answer> {
  writerOf(request)
  const { clock } = request.context
  const { name, password, enabled = true, default_project_id: project } = bodyOf(request, NEW).user
  requireName(name)
  if (project) projectAt(request, project)
  // Hashing is expensive, so a name that is taken is refused before it.
  if (issuerOf(request).directory().user(name)) addUserTwice(name)
  const id = clock.newUuid().replaceAll('-', '')
  const hash = await hashed(request, password ?? clock.newSecret(32).toString('base64url'))
  await make(request, { edit: addUser(id, { name, password: hash, enabled }), about: [{ kind: 'user', id, name }] })
  return { ...showUserWithId(request, id), status: 201 }
}

function addUserTwice(name: string): never {
  throw problem('identity_exists', {
    reason: `Conflict occurred attempting to store user - Duplicate entry found with name ${name} at domain ID default.`,
  })
}

patchUser.operation = {
  summary: 'Change a user; with a new name, password or without a right to log in, the tokens of the user end',
  body: [CHANGE],
  answers: { 200: Shown },
} satisfies Operation

export async function patchUser(request: IdentityRequest): Promise<Answer> {
  writerOf(request)
  const { id, name: present } = userAt(request, request.param('user'))
  const { name, password, enabled, default_project_id: project } = bodyOf(request, CHANGE).user
  if (name !== undefined) requireName(name)
  if (project) projectAt(request, project)
  const change: UserChange = {
    ...(name !== undefined && { name }),
    ...(password && { password: await hashed(request, password) }),
    ...(enabled !== undefined && { enabled }),
    ...(project !== undefined && { defaultProject: project }),
  }
  await make(request, {
    edit: changeUser(id, change),
    about: [{ kind: 'user', id, name: name ?? present }],
    ...(name !== undefined && { credentials: { user: id, name } }),
  })
  return showUserWithId(request, id)
}

deleteUser.operation = {
  summary: 'Delete a user; what the user made stays with the project',
  answers: { 204: null },
} satisfies Operation

export async function deleteUser(request: IdentityRequest): Promise<Answer> {
  writerOf(request)
  const { id, name } = userAt(request, request.param('user'))
  const about = [{ kind: 'user', id, name }] as const
  await make(request, { edit: removeUser(id), about, credentials: { goneUser: id } })
  return { status: 204 }
}

postPassword.operation = {
  summary: 'Change the own password; all tokens of the old one end',
  body: [PASSWORD],
  answers: { 204: null },
} satisfies Operation

export async function postPassword(request: IdentityRequest): Promise<Answer> {
  writerOf(request)
  const { original_password: original, password } = bodyOf(request, PASSWORD).user
  const token = await callersToken(request)
  // A credential is for less than its user may do.
  if (token?.facts.credential) throw problem('identity_forbidden', { action: 'identity:change_password' })
  const user = userAt(request, request.param('user'))
  await issuerOf(request).login.requirePassword(user, original, request.raw.ip)
  const edit = replacePassword(user.id, user.password!, await hashed(request, password))
  await make(request, { edit, about: [{ kind: 'user', id: user.id, name: user.name }] })
  return { status: 204 }
}
