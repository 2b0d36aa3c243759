// /v3/auth/tokens
import { idOf } from '../../identity/ids.ts'
import type { Role } from '../../identity/roles.ts'
import type { Token } from '../../identity/tokens.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { Flag, named, oneOf, Text } from '../shapes.ts'
import { AUTH, proofIn, scopeIn } from './auth-body.ts'
import type { IdentityAction } from './policy.ts'
import {
  type Answer,
  DOMAIN,
  DomainShape,
  type IdentityRequest,
  issuerOf,
  objectIn,
  parametersOf,
  shownTime,
  Time,
} from './request.ts'
import { catalogFor } from './services.ts'
import { Type } from '../../shared/type.ts'

const PARAMETERS = parametersOf('nocatalog')
const Holder = { id: Text, name: Text, domain: DomainShape }
export const CatalogShape = Type.Array(
  named('Service', {
    id: Text,
    type: Text,
    name: Text,
    endpoints: Type.Array(
      named('Endpoint', {
        id: Text,
        interface: oneOf('public', 'internal', 'admin'),
        region: Text,
        region_id: Text,
        url: Text,
      }),
    ),
  }),
)
export const RoleShape = named('RoleName', { id: Text, name: Text })
const Shown = Type.Object({
  token: named('Token', {
    methods: Type.Array(Text),
    user: Type.Object({ ...Holder, password_expires_at: Type.Null() }),
    audit_ids: Type.Array(Text),
    expires_at: Time,
    issued_at: Time,
    project: Type.Optional(Type.Object(Holder)),
    is_domain: Type.Optional(Flag),
    system: Type.Optional(Type.Object({ all: Flag })),
    roles: Type.Optional(Type.Array(RoleShape)),
    application_credential: Type.Optional(Type.Object({ id: Text, restricted: Flag })),
    catalog: Type.Optional(CatalogShape),
  }),
})

postToken.operation = {
  summary: 'Get a token, in the header x-subject-token',
  query: [PARAMETERS],
  body: [AUTH],
  answers: { 201: Shown },
} satisfies Operation

export async function postToken(request: IdentityRequest): Promise<Answer> {
  const auth = objectIn(request, 'auth', AUTH)
  const { login, tokens } = issuerOf(request)
  const token = await login.enter(proofIn(auth), scopeIn(auth), request.raw.ip)
  return { status: 201, body: shown(token, request), headers: { 'x-subject-token': await tokens.write(token.facts) } }
}

showToken.operation = {
  summary: 'Say whose the token in the header x-subject-token is',
  query: [PARAMETERS],
  answers: { 200: Shown },
} satisfies Operation

export async function showToken(request: IdentityRequest): Promise<Answer> {
  const { text, token } = await subject(request, 'identity:validate_foreign_token')
  return { status: 200, body: shown(token, request), headers: { 'x-subject-token': text } }
}

deleteToken.operation = {
  summary: 'Revoke the token in the header x-subject-token',
  answers: { 204: null },
} satisfies Operation

export async function deleteToken(request: IdentityRequest): Promise<Answer> {
  const { text, token } = await subject(request, 'identity:revoke_foreign_token')
  await issuerOf(request).tokens.revoke(request.context.store, text, token)
  return { status: 204 }
}

/** The token in x-subject-token: the caller's own, or with the permission `foreign` anyone's. */
async function subject(request: IdentityRequest, foreign: IdentityAction): Promise<{ text: string; token: Token }> {
  const text = request.header('x-subject-token')
  if (text === null) throw problem('identity_not_found', { what: 'token', name: 'there is none in the request' })
  const token = await issuerOf(request).tokens.check(text)
  if (token?.caller.user !== request.caller.user) request.requireAllowed(foreign)
  if (!token) throw problem('identity_not_found', { what: 'token', name: 'it is unknown, ended or revoked' })
  return { text, token }
}

export const shownRole = (name: Role) => ({ id: idOf('role', name), name })

function shown({ facts, user, project, roles }: Token, request: IdentityRequest): object {
  const isScoped = project !== null || facts.system
  const hasCatalog = isScoped && request.parameter('nocatalog') === null
  return {
    token: {
      methods: facts.methods,
      user: { id: user.id, name: user.name, domain: DOMAIN, password_expires_at: null },
      audit_ids: [facts.id],
      expires_at: shownTime(facts.expiresAt),
      issued_at: shownTime(facts.issuedAt),
      ...(project && { project: { id: project.id, name: project.name, domain: DOMAIN }, is_domain: false }),
      ...(facts.system && { system: { all: true } }),
      ...(isScoped && { roles: [...roles].map(shownRole) }),
      ...(facts.credential && {
        application_credential: { id: facts.credential.id, restricted: !facts.credential.unrestricted },
      }),
      ...(hasCatalog && { catalog: catalogFor(request, { project: project?.id ?? null, user: user.id }) }),
    },
  }
}
