// A request as identity's handlers see it, and the answer that they give.
import type { FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { Context } from '../../process/context.ts'
import type { Caller } from '../../identity/caller.ts'
import type { Directory } from '../../identity/directory.ts'
import type { Issuer } from '../../identity/identity.ts'
import type { Target } from '../../identity/policy.ts'
import type { Token } from '../../identity/tokens.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { requireStorable, textOfBody } from '../json-body.ts'
import { type Form, type Operation, requireDeclared, requireParameter } from '../operation.ts'
import { queryOf } from '../query.ts'
import { named, Text } from '../shapes.ts'
import type { IdentityAction } from './policy.ts'
import { PREFIX } from './prefix.ts'
import { isObject } from '../../shared/is-object.ts'

export interface Answer {
  status: number
  body?: object
  headers?: Record<string, string>
}

export type Json = Record<string, unknown>

export const invalid = (reason: string) => problem('identity_invalid', { reason })

export class IdentityRequest {
  readonly context: Context
  readonly issuer: Issuer
  /** Null only where nobody need be known. */
  readonly #caller: Caller | null
  readonly #operation: Operation
  readonly #raw: FastifyRequest

  constructor(context: Context, issuer: Issuer, caller: Caller | null, operation: Operation, raw: FastifyRequest) {
    this.context = context
    this.issuer = issuer
    this.#caller = caller
    this.#operation = operation
    this.#raw = raw
  }

  get caller(): Caller {
    if (!this.#caller) throw problem('not_authenticated', {})
    return this.#caller
  }

  get directory(): Directory {
    return this.issuer.directory()
  }

  get now(): number {
    return this.context.clock.now()
  }

  get address(): string {
    return this.#raw.ip
  }

  /** The host that the client spoke to. */
  get origin(): string {
    return `${this.#raw.protocol}://${this.#raw.host}`
  }

  /** Where a path of this API is for the client. */
  link(path: string): string {
    return `${this.origin}${PREFIX}/v3${path}`
  }

  param(name: string): string {
    return (this.#raw.params as Record<string, string>)[name]!
  }

  /** A parameter of the query; null when it isn't there. */
  parameter(name: string): string | null {
    requireParameter(this.#operation.query, name)
    return queryOf(this.#raw.url, this.#operation).get(name)
  }

  /** The query as it came, with its question mark. */
  get search(): string {
    const start = this.#raw.url.indexOf('?')
    return start < 0 ? '' : this.#raw.url.slice(start)
  }

  header(name: string): string | null {
    const value = this.#raw.headers[name]
    return typeof value === 'string' ? value : null
  }

  /** The token that the caller came with; null for one who came without a token of ours. */
  async callersToken(): Promise<Token | null> {
    const text = this.header('x-auth-token')
    return text === null ? null : this.issuer.tokens.check(text)
  }

  requireAllowed(action: IdentityAction, target: Target = {}): void {
    if (!this.context.policy.allows(action, this.caller, target)) throw problem('identity_forbidden', { action })
  }

  /** The object under a name in the body. What is wrong is told without quoting it: there are passwords in these. */
  object(name: string, form: Form): Json {
    requireDeclared(this.#operation.body, form)
    let body: unknown
    try {
      body = JSON.parse(textOfBody(this.#raw.body))
    } catch {
      throw invalid('The body is not valid JSON.')
    }
    requireStorable(body, limits.jsonDepthMax)
    const inside = isObject(body) ? body[name] : undefined
    if (!isObject(inside)) throw invalid(`Expecting to find ${name}, an object, in the body.`)
    return inside
  }
}

/** Parameters of these names. */
export const parametersOf = (...names: string[]): Form => ({
  schema: Type.Object(Object.fromEntries(names.map(name => [name, Type.Optional(Text)]))),
})

/** A list for the document. */
export const listShape = (name: string, item: TSchema) =>
  Type.Object({
    [name]: Type.Array(item),
    links: named('Pages', { next: Type.Null(), previous: Type.Null(), self: Text }),
  })
export const Self = named('SelfLink', { self: Text })

/** A list as Keystone gives it, on one page. */
export function listOf(request: IdentityRequest, name: string, path: string, items: readonly object[]): Answer {
  return {
    status: 200,
    body: { [name]: items, links: { next: null, previous: null, self: request.link(path) + request.search } },
  }
}

export const DOMAIN = { id: 'default', name: 'Default' }

export const DomainShape = named('Domain', { id: Text, name: Text })
export const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$' })

/** Microseconds, as clients parse them. */
export const shownTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')
