// A token as text: what it says and a signature, so that any process with the key can read it and nobody else can write it.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { limits } from '../shared/limits.ts'
import type { Role } from './roles.ts'

export type Method = 'password' | 'token' | 'application_credential'

/** What a token says. Roles are not in it: they are looked up at each check, so that one taken away is gone. */
export interface TokenFacts {
  readonly id: string
  readonly user: string
  /** The user's stamp at the time: with another password it is another. */
  readonly stamp: string
  readonly project: string | null
  readonly system: boolean
  readonly methods: readonly Method[]
  /** The application credential that it was got with, which may narrow the roles. */
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

/** What the token says, or null when we didn't write it. */
export function readToken(text: string, key: Buffer): TokenFacts | null {
  const dot = text.indexOf('.')
  if (dot < 0 || text.length > limits.tokenLengthMax) return null
  const body = text.slice(0, dot)
  const given = Buffer.from(text.slice(dot + 1), 'base64url')
  const ours = signatureOf(body, key)
  if (given.length !== ours.length || !timingSafeEqual(given, ours)) return null
  // Bytes after the signature, or another spelling of it, would be other text for the same token.
  if (text !== `${body}.${ours.toString('base64url')}`) return null
  const said = JSON.parse(Buffer.from(body, 'base64url').toString())
  const [id, user, stamp, project, system, methods, credential, issuedAt, expiresAt] = said
  return { id, user, stamp, project, system, methods, credential, issuedAt, expiresAt }
}

const signatureOf = (body: string, key: Buffer) => createHmac('sha256', key).update(body).digest()
