// /v3/users/X/application_credentials
import {
  type ApplicationCredential,
  createCredential,
  deleteCredential,
  findCredential,
  listCredentials,
  requireRoomForCredential,
} from '../../identity/application-credentials.ts'
import { idOf } from '../../identity/ids.ts'
import { type Role, ROLES } from '../../identity/roles.ts'
import type { Token } from '../../identity/tokens.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { Flag, named, orNull, Text, TextOrNull } from '../shapes.ts'
import { jsonText, shownIn, TEXTS } from '../../shared/json.ts'
import {
  type Answer,
  callersToken,
  directoryOf,
  type IdentityRequest,
  invalid,
  issuerOf,
  type Json,
  linkTo,
  listOf,
  listShape,
  objectIn,
  parametersOf,
  Self,
  shownTime,
  Time,
} from './request.ts'
import { RoleShape, shownRole } from './tokens.ts'
import { isObject } from '../../shared/is-object.ts'
import { Type } from '../../shared/type.ts'

const NAME_MAX = 255
const DESCRIPTION_MAX = 1_000

const shape = {
  id: Text,
  name: Text,
  description: Text,
  user_id: Text,
  project_id: TextOrNull,
  roles: Type.Array(RoleShape),
  expires_at: orNull(Time),
  unrestricted: Flag,
  system: Type.Null(),
  links: Self,
}
const Shown = named('ApplicationCredential', shape)
const Made = named('NewApplicationCredentialWithSecret', { ...shape, secret: Text })

const text = (maxLength: number) => Type.Optional(orNull(Type.String({ maxLength })))
const NEW: Form = {
  schema: Type.Object(
    {
      application_credential: Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: NAME_MAX }),
          secret: text(limits.passwordBytesMax),
          description: text(DESCRIPTION_MAX),
          expires_at: text(NAME_MAX),
          roles: Type.Optional(orNull(Type.Array(Type.Unknown()))),
          unrestricted: Type.Optional(Type.Unknown()),
        },
        { title: 'NewApplicationCredential', additionalProperties: true },
      ),
    },
    { additionalProperties: true },
  ),
}

listAllCredentials.operation = {
  summary: 'List the application credentials of a user',
  query: [parametersOf('name')],
  answers: { 200: listShape('application_credentials', Shown) },
} satisfies Operation

export async function listAllCredentials(request: IdentityRequest): Promise<Answer> {
  const user = request.param('user')
  const name = request.parameter('name')
  const rows = await request.context.store.read(() => listCredentials(user))
  const items = rows.filter(row => name === null || row.name === name).map(row => shown(row, request))
  return listOf(request, 'application_credentials', `/users/${user}/application_credentials`, items)
}

showCredential.operation = {
  summary: 'Show an application credential',
  answers: { 200: Type.Object({ application_credential: Shown }) },
} satisfies Operation

export async function showCredential(request: IdentityRequest): Promise<Answer> {
  const user = request.param('user')
  const row = await request.context.store.read(() => findCredential(user, request.param('id')))
  return { status: 200, body: { application_credential: shown(row, request) } }
}

deleteOneCredential.operation = {
  summary: 'Delete an application credential',
  answers: { 204: null },
} satisfies Operation

export async function deleteOneCredential(request: IdentityRequest): Promise<Answer> {
  const user = request.param('user')
  requireUnrestricted(await callersToken(request), 'identity:delete_application_credential')
  await request.context.store.write(() => deleteCredential(user, request.param('id')))
  return { status: 204 }
}

postCredential.operation = {
  summary: 'Make an application credential; its secret is told here, once',
  body: [NEW],
  answers: { 201: Type.Object({ application_credential: Made }) },
} satisfies Operation

/** The only answer that shows the secret. */
export async function postCredential(request: IdentityRequest): Promise<Answer> {
  const action = 'identity:create_application_credential'
  const { clock, store } = request.context
  const token = await callersToken(request)
  // Callers can make credentials only for themselves, and for the project of their token.
  if (!token?.project || request.param('user') !== request.caller.user) throw problem('identity_forbidden', { action })
  requireUnrestricted(token, action)
  const given = objectIn(request, 'application_credential', NEW)
  const secret = textIn(given, 'secret', limits.passwordBytesMax) ?? clock.newSecret(48).toString('base64url')
  const name = textIn(given, 'name', NAME_MAX)
  if (name === null || name === '') throw invalid('An application_credential needs a name, a string.')
  if (Array.isArray(given['access_rules']) && given['access_rules'].length > 0) {
    throw invalid('access_rules are not supported: it must be empty.')
  }
  const wanted: Omit<ApplicationCredential, 'secret'> = {
    id: clock.newUuid().replaceAll('-', ''),
    user_id: token.user.id,
    user_name: token.user.name,
    project_name: token.project.name,
    name,
    description: textIn(given, 'description', DESCRIPTION_MAX) ?? '',
    roles: jsonText(rolesIn(given, token)),
    unrestricted: given['unrestricted'] === true ? 1 : 0,
    is_open: request.context.config.auth === 'none' ? 1 : 0,
    expires_at: endIn(given, request.now),
    created_at: request.now,
  }
  // Hashing is expensive, so a credential is refused before it if possible.
  await store.read(() => requireRoomForCredential(wanted))
  const row = { ...wanted, secret: await issuerOf(request).passwords.hash(secret, clock.newSecret(16)) }
  await store.write(() => createCredential(row))
  return { status: 201, body: { application_credential: { ...shown(row, request), secret } } }
}

/** A caller with a credential can't make or delete credentials, unless the credential is unrestricted. */
function requireUnrestricted(token: Token | null, action: string): void {
  const credential = token?.facts.credential
  if (credential && !credential.unrestricted) throw problem('identity_forbidden', { action })
}

function rolesIn(given: Json, token: Token): Role[] {
  const wanted = given['roles'] ?? []
  if (!Array.isArray(wanted)) throw invalid('roles must be a list.')
  if (wanted.length === 0) return [...token.roles]
  return wanted.slice(0, ROLES.length).map(item => {
    const found = ROLES.find(role => isObject(item) && (item['name'] === role || item['id'] === idOf('role', role)))
    if (!found || !token.roles.has(found))
      throw invalid(`roles must be among those that you have in this project: ${[...token.roles].join(', ')}.`)
    return found
  })
}

function endIn(given: Json, now: number): number | null {
  const text = textIn(given, 'expires_at', NAME_MAX)
  if (text === null) return null
  const end = /^\d{4}-\d\d-\d\dT[\d:.]+Z?$/.test(text) ? Date.parse(text.endsWith('Z') ? text : `${text}Z`) : NaN
  if (Number.isNaN(end)) throw invalid('expires_at must be a time such as 2030-01-31T12:00:00.')
  if (end <= now) throw invalid('expires_at must be in the future.')
  return end
}

function textIn(given: Json, name: string, lengthMax: number): string | null {
  const value = given[name] ?? null
  if (value === null) return null
  if (typeof value !== 'string' || value.length > lengthMax) {
    throw invalid(`${name} must be a string of at most ${lengthMax} characters.`)
  }
  return value
}

function shown(row: ApplicationCredential, request: IdentityRequest): object {
  const path = `/users/${row.user_id}/application_credentials/${row.id}`
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    user_id: row.user_id,
    project_id: directoryOf(request).project(row.project_name)?.id ?? null,
    roles: (shownIn(row.roles, TEXTS) as Role[]).map(shownRole),
    expires_at: row.expires_at === null ? null : shownTime(row.expires_at),
    unrestricted: row.unrestricted === 1,
    system: null,
    links: { self: linkTo(request, path) },
  }
}
