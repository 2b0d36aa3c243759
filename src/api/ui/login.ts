// /ui/config.json, and as much of /v3/auth as the page needs to log in, whoever keeps the users. The page may call only
// its own server, so what it asks of Keystone goes through us.
import type { KeystoneLogin } from '../../identity/keystone-login.ts'
import { problem } from '../../problems/problem.ts'
import { VERSION } from '../../shared/version.ts'
import { AUTH, proofIn } from '../identity/auth-body.ts'
import { identity } from '../identity/dialect.ts'
import { listOwnProjects } from '../identity/projects.ts'
import { type Answer, type IdentityRequest, objectIn } from '../identity/request.ts'
import { postToken } from '../identity/tokens.ts'
import type { Operation } from '../operation.ts'
import { oneOf, Text } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

showConfig.operation = {
  summary: 'Show how to log in',
  answers: {
    200: Type.Object({ name: Text, version: Text, identity: oneOf('none', 'noauth2', 'password', 'keystone') }),
  },
} satisfies Operation

export function showConfig({ context: { config } }: IdentityRequest): Answer {
  return { status: 200, body: { name: 'holdfast', version: VERSION, identity: config.auth } }
}

logIn.operation = postToken.operation

/** A token for the body that Keystone's `POST /v3/auth/tokens` takes. */
export async function logIn(request: IdentityRequest): Promise<Answer> {
  if (request.context.identity.issuer) return postToken(request.as(identity))
  const auth = objectIn(request, 'auth', AUTH)
  const { token, body } = await keystoneOf(request).enter(proofIn(auth), auth, request.raw.ip)
  return { status: 201, body, headers: { 'x-subject-token': token } }
}

logOut.operation = { summary: "Revoke the caller's token", answers: { 204: null } } satisfies Operation

export async function logOut(request: IdentityRequest): Promise<Answer> {
  const { identity, store } = request.context
  const text = request.header('x-auth-token')
  if (text === null) return { status: 204 }
  if (identity.issuer) {
    const token = await identity.issuer.tokens.check(text)
    if (token) await identity.issuer.tokens.revoke(store, text, token)
  } else await keystoneOf(request).leave(text, request.raw.ip)
  return { status: 204 }
}

showProjects.operation = listOwnProjects.operation

export async function showProjects(request: IdentityRequest): Promise<Answer> {
  if (request.context.identity.issuer) return listOwnProjects(request.as(identity))
  const body = await keystoneOf(request).projects(request.header('x-auth-token') ?? '', request.raw.ip)
  return { status: 200, body }
}

/** In mode noauth2 nobody hands out tokens. */
function keystoneOf({ context: { identity, config } }: IdentityRequest): KeystoneLogin {
  if (identity.keystone) return identity.keystone
  throw problem('identity_elsewhere', { reason: `With auth '${config.auth}' no tokens are handed out.` })
}
