// The request type of identity's handlers, and helpers that only they need.
import type { TSchema } from 'typebox'
import type { Directory } from '../../identity/directory.ts'
import type { Issuer } from '../../identity/identity.ts'
import type { Token } from '../../identity/tokens.ts'
import { problem } from '../../problems/problem.ts'
import type { Answer } from '../frame/dialect.ts'
import { isObject } from '../../shared/is-object.ts'
import type { Members as Json, Request } from '../frame/request.ts'
import { requireStorable, textOfBody } from '../json-body.ts'
import { type Form, requireDeclared } from '../operation.ts'
import type { Check } from '../schema.ts'
import { named, Text } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

export type { Answer, Json }
export type IdentityRequest = Request

export const invalid = (reason: string) => problem('identity_invalid', { reason })

/** The issuer of tokens. It is never null here, because a check of the dialect refuses all requests without one. */
export const issuerOf = ({ context }: IdentityRequest): Issuer => context.identity.issuer!

export const directoryOf = (request: IdentityRequest): Directory => issuerOf(request).directory()

/** The URL of a path of this API, as the client sees it. */
export const linkTo = ({ base, dialect }: IdentityRequest, path: string): string => base + dialect.below + path

/** The query as sent, with its question mark. */
function searchOf({ raw: { url } }: IdentityRequest): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start)
}

/** The caller's token; null if the caller has none of ours. */
export async function callersToken(request: IdentityRequest): Promise<Token | null> {
  const text = request.header('x-auth-token')
  return text === null ? null : issuerOf(request).tokens.check(text)
}

/** The object under a name in the body. Errors don't quote the body, because it holds passwords. */
export function objectIn(request: IdentityRequest, name: string, form: Form): Json {
  const body = jsonIn(request, form)
  const inside = isObject(body) ? body[name] : undefined
  if (!isObject(inside)) throw invalid(`Expecting to find ${name}, an object, in the body.`)
  return inside
}

/** The body, checked against the schema. Errors name the place, and never what stands there. */
export function bodyOf<T>(request: IdentityRequest, form: Check<T>): T {
  const body = jsonIn(request, form)
  const checked = form(body)
  if (checked.ok) return checked.value
  throw invalid(checked.unshown)
}

/** Text parameters with these names. */
export const parametersOf = (...names: string[]): Form => ({
  schema: Type.Object(Object.fromEntries(names.map(name => [name, Type.Optional(Text)]))),
})

/** The schema of a list. */
export const listShape = (name: string, item: TSchema) =>
  Type.Object({
    [name]: Type.Array(item),
    links: named('Pages', { next: Type.Null(), previous: Type.Null(), self: Text }),
  })
export const Self = named('SelfLink', { self: Text })

/** A list in Keystone's format, on one page. */
export function listOf(request: IdentityRequest, name: string, path: string, items: readonly object[]): Answer {
  return {
    status: 200,
    body: { [name]: items, links: { next: null, previous: null, self: linkTo(request, path) + searchOf(request) } },
  }
}

export const DOMAIN = { id: 'default', name: 'Default' }

export const DomainShape = named('Domain', { id: Text, name: Text })
export const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$' })

/** With microseconds, as clients expect. */
export const shownTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')

function jsonIn({ raw, route }: IdentityRequest, form: Form): unknown {
  requireDeclared(route!.handle.operation.body, form)
  let body: unknown
  try {
    body = JSON.parse(textOfBody(raw.body))
  } catch {
    throw invalid('The body is not valid JSON.')
  }
  requireStorable(body)
  return body
}
