// A request as Placement's handlers see it, and the answer that they give.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../process/context.ts'
import type { Caller } from '../../identity/caller.ts'
import { problem } from '../../problems/problem.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { type Operation, requireDeclared } from '../operation.ts'
import { queryOf } from '../query.ts'
import type { Check } from '../schema.ts'
import { acceptsJson } from './errors.ts'
import type { Has, Version } from './versions.ts'

export interface Answer {
  status: number
  /** Written as JSON, unless it is that already. */
  body?: object | Buffer
  headers?: Record<string, string>
  /** Path below the API's prefix. */
  location?: string
  /** When what is shown was last changed; null shows no time, undefined neither time nor caching. */
  modified?: number | null
}

/** Each of their values counts, or the first: clients know these so. How versions differ in that is theirs to say. */
const MAY_REPEAT = /^(required|member_of|same_subtree$|limit$|group_policy$)/

export class PlacementRequest {
  readonly context: Context
  readonly caller: Caller
  readonly version: Version
  readonly #operation: Operation
  readonly #raw: FastifyRequest
  #query: URLSearchParams | undefined

  constructor(context: Context, caller: Caller, version: Version, operation: Operation, raw: FastifyRequest) {
    this.context = context
    this.caller = caller
    this.version = version
    this.#operation = operation
    this.#raw = raw
  }

  get has(): Has {
    return this.version.has
  }

  /** A named part of the path. */
  param(name: string): string {
    return (this.#raw.params as Record<string, string>)[name]!
  }

  requireJsonBody(): void {
    const given = this.#raw.headers['content-type']?.split(';', 1)[0]!.trim()
    if (given !== 'application/json') throw problem('unsupported_media_type', { given: given || 'None' })
  }

  requireJsonAccepted(): void {
    if (!acceptsJson(this.#raw.headers.accept)) throw problem('not_acceptable', {})
  }

  get query(): URLSearchParams {
    return (this.#query ??= queryOf(this.#raw.url, this.#operation, MAY_REPEAT))
  }

  /** The query string, known to hold nothing but what the schema names; of a key that may repeat the first value. */
  checkedQuery<T>(check: Check<T>): T {
    requireDeclared(this.#operation.query, check)
    const checked = check(Object.fromEntries([...this.query].toReversed()))
    if (!checked.ok) throw problem('invalid_query', { reason: `Invalid query string parameters: ${checked.reason}` })
    return checked.value
  }

  /** The JSON body, known to have the schema's shape. */
  body<T>(check: Check<T>): T {
    requireDeclared(this.#operation.body, check)
    const text = textOfBody(this.#raw.body)
    const checked = check(parseJson(text))
    if (!checked.ok) throw problem('invalid_body', { reason: checked.reason })
    // Only an escape can bring in what can't be stored, so most bodies needn't be looked through.
    if (text.includes('\\u')) requireStorable(checked.value)
    return checked.value
  }
}
