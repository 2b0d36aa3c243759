// The text of a token: its facts and a signature. Any process with the key can check it, and nobody else can make one.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { limits } from '../shared/limits.ts'
import type { Role } from './roles.ts'

export type Method = 'password' | 'token' | 'application_credential'

/** The content of a token. Roles are not in it: they are looked up at each check, so that a removed role is gone. */
export interface TokenFacts {
  readonly id: string
  readonly user: string
  /** The user's stamp when the token was issued; a new password changes the stamp. */
  readonly stamp: string
  readonly project: string | null
  readonly system: boolean
  readonly methods: readonly Method[]
  /** The application credential that it was issued for, which may limit the roles. */
  readonly credential: CredentialFacts | null
  readonly issuedAt: number
  readonly expiresAt: number
}

interface CredentialFacts {
  readonly id: string
  readonly roles: readonly Role[]
  readonly unrestricted: boolean
}

export function writeToken(facts: TokenFacts, key: Buffer): string {
  const { id, user, stamp, project, system, methods, credential, issuedAt, expiresAt } = facts
  const said = [id, user, stamp, project, system, methods, credential, issuedAt, expiresAt]
  const body = Buffer.from(JSON.stringify(said)).toString('base64url')
  return `${body}.${signatureOf(body, key).toString('base64url')}`
}

/** The facts of the token; null when this key didn't sign it. */
export function readToken(text: string, key: Buffer): TokenFacts | null {
  const dot = text.indexOf('.')
  if (dot < 0 || text.length > limits.tokenLengthMax) return null
  const body = text.slice(0, dot)
  const given = Buffer.from(text.slice(dot + 1), 'base64url')
  const ours = signatureOf(body, key)
  if (given.length !== ours.length || !timingSafeEqual(given, ours)) return null
  // Base64 ignores some changes of the signature; the same token must not have a second text.
  if (text !== `${body}.${ours.toString('base64url')}`) return null
  const said = JSON.parse(Buffer.from(body, 'base64url').toString())
  const [id, user, stamp, project, system, methods, credential, issuedAt, expiresAt] = said
  return { id, user, stamp, project, system, methods, credential, issuedAt, expiresAt }
}

const signatureOf = (body: string, key: Buffer) => createHmac('sha256', key).update(body).digest()
