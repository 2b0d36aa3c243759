// Parses the body of a request for a token: the proof of who the client is, and the scope of the token.
import type { TSchema } from 'typebox'
import type { Proof, Reference, Scope } from '../../identity/login.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import type { Form } from '../operation.ts'
import { DOMAIN, invalid, type Json } from './request.ts'
import { isObject } from '../../shared/is-object.ts'
import { Type } from '../../shared/type.ts'

const NAME_MAX = 255

const Name = Type.String({ maxLength: NAME_MAX })
const Secret = Type.String({ maxLength: limits.passwordBytesMax })
const open = { additionalProperties: true }
/** A reference by id, where other members are ignored, or by name. */
const reference = (byName: Record<string, TSchema> = {}, always: Record<string, TSchema> = {}) =>
  Type.Union([Type.Object({ id: Name, ...always }, open), Type.Object({ name: Name, ...byName, ...always }, open)])
const InDomain = { domain: Type.Optional(reference()) }

const identity = (method: string, given: TSchema) =>
  Type.Object({ methods: Type.Array(Type.Literal(method), { minItems: 1, maxItems: 1 }), [method]: given }, open)
const Identity = Type.Union([
  identity('password', Type.Object({ user: reference(InDomain, { password: Secret }) }, open)),
  identity('token', Type.Object({ id: Type.String({ maxLength: limits.tokenLengthMax }) }, open)),
  identity('application_credential', reference({ user: reference(InDomain) }, { secret: Secret })),
])
const ScopeShape = Type.Union([
  Type.Literal('unscoped'),
  Type.Object({ unscoped: Type.Unknown() }),
  Type.Object({ system: Type.Object({ all: Type.Literal(true) }, open) }),
  Type.Object({ project: reference(InDomain) }),
])
export const AUTH: Form = {
  schema: Type.Object(
    {
      auth: Type.Object({ identity: Identity, scope: Type.Optional(ScopeShape) }, { title: 'Authentication', ...open }),
    },
    open,
  ),
}

export function proofIn(auth: Json): Proof {
  const identity = objectIn(auth, 'identity', 'auth')
  const methods = identity['methods']
  if (!Array.isArray(methods) || methods.length === 0)
    throw invalid(
      'Expecting to find methods, a list of one of password, token and application_credential, in identity.',
    )
  if (methods.length > 1) throw invalid('One of the methods at a time is supported.')
  switch (methods[0]) {
    case 'password': {
      const user = objectIn(objectIn(identity, 'password', 'identity'), 'user', 'password')
      return { method: 'password', user: referenceIn(user, 'user'), password: secretIn(user, 'password', 'user') }
    }
    case 'token': {
      const token = objectIn(identity, 'token', 'identity')
      return { method: 'token', token: textIn(token, 'id', 'token', limits.tokenLengthMax) }
    }
    case 'application_credential': {
      const given = objectIn(identity, 'application_credential', 'identity')
      const secret = secretIn(given, 'secret', 'application_credential')
      if (given['id'] !== undefined) {
        const id = textIn(given, 'id', 'application_credential', NAME_MAX)
        return { method: 'application_credential', credential: { id }, secret }
      }
      const name = textIn(given, 'name', 'application_credential', NAME_MAX)
      const user = referenceIn(objectIn(given, 'user', 'application_credential'), 'user')
      return { method: 'application_credential', credential: { name, user }, secret }
    }
    default:
      throw problem('not_authenticated', {})
  }
}

export function scopeIn(auth: Json): Scope {
  const scope = auth['scope']
  if (scope === undefined) return 'default'
  if (scope === 'unscoped') return 'unscoped'
  if (!isObject(scope) || Object.keys(scope).length !== 1)
    throw invalid('scope must be one of project, system, unscoped.')
  if ('unscoped' in scope) return 'unscoped'
  if (isObject(scope['system']) && scope['system']['all'] === true) return 'system'
  if ('project' in scope) return { project: referenceIn(objectIn(scope, 'project', 'scope'), 'project') }
  // Nobody has a role in a domain or a trust.
  if ('domain' in scope || 'OS-TRUST:trust' in scope) throw problem('not_authenticated', {})
  throw invalid('scope must be one of project, system, unscoped.')
}

function referenceIn(given: Json, what: string): Reference {
  if (given['id'] !== undefined) return { id: textIn(given, 'id', what, NAME_MAX) }
  if (given['name'] === undefined) throw invalid(`Expecting to find name or id, a string, in ${what}.`)
  const name = textIn(given, 'name', what, NAME_MAX)
  const domain = given['domain']
  if (domain === undefined) return { name }
  const of = referenceIn(objectIn(given, 'domain', what), 'domain')
  const isOurs = 'id' in of ? of.id === DOMAIN.id : of.name.toLowerCase() === DOMAIN.name.toLowerCase()
  // An unknown domain has no users. An id that can't exist finds nobody, and takes as long as a real one.
  return isOurs ? { name } : { id: `${'id' in of ? of.id : of.name}/${name}` }
}

function objectIn(given: Json, name: string, where: string): Json {
  const value = given[name]
  if (!isObject(value)) throw invalid(`Expecting to find ${name}, an object, in ${where}.`)
  return value
}

function textIn(given: Json, name: string, where: string, lengthMax: number): string {
  const value = given[name]
  if (typeof value !== 'string') throw invalid(`Expecting to find ${name}, a string, in ${where}.`)
  if (value.length > lengthMax) throw invalid(`${name} in ${where} is longer than ${lengthMax} characters.`)
  return value
}

const secretIn = (given: Json, name: string, where: string) => textIn(given, name, where, limits.passwordBytesMax)
