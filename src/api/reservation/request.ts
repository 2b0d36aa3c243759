// A request as the reservation API's handlers see it, and the answer that they give.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../process/context.ts'
import type { Caller } from '../../identity/caller.ts'
import { limits } from '../../shared/limits.ts'
import type { LeaseContext } from '../../leases/context.ts'
import { NOBODY, type Principal } from '../../metal/nodes/provider.ts'
import { problem } from '../../problems/problem.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { type Form, type Operation, requireDeclared, requireParameter } from '../operation.ts'
import { queryOf } from '../query.ts'
import { type ReservationAction, SEES_HOSTS } from './policy.ts'

export interface Answer {
  status: number
  body?: object
}

export type Members = Record<string, unknown>

/** What a request needs to know of the route that it came by. */
interface Served {
  action: ReservationAction
  operation: Operation
}

export class ReservationRequest {
  readonly context: Context
  readonly caller: Caller
  readonly #action: ReservationAction
  readonly #operation: Operation
  readonly #raw: FastifyRequest
  readonly #params: Record<string, string>
  #query: URLSearchParams | undefined

  constructor(
    context: Context,
    caller: Caller,
    { action, operation }: Served,
    raw: FastifyRequest,
    params: Record<string, string>,
  ) {
    this.context = context
    this.caller = caller
    this.#action = action
    this.#operation = operation
    this.#raw = raw
    this.#params = params
  }

  get now(): number {
    return this.context.clock.now()
  }

  /** What leases are made and changed with, telling as much as the caller may know. */
  get leasing(): LeaseContext {
    const { context, caller } = this
    return { ...context, seesHosts: context.policy.allows(SEES_HOSTS, caller) }
  }

  /** Whose new leases these are. */
  get principal(): Principal {
    return { project: this.caller.project ?? NOBODY.project, user: this.caller.user || NOBODY.user }
  }

  /** The project whose leases the caller acts on; null for all: who sees them all must also be allowed this on all of them. */
  get visible(): string | null {
    const { context, caller } = this
    const actions = ['blazar:leases:list_all', this.#action] as const
    return actions.every(action => context.policy.allows(action, caller)) ? null : this.principal.project
  }

  param(name: string): string {
    return this.#params[name]!
  }

  /** A parameter of the query; null when it isn't there. */
  parameter(name: string): string | null {
    requireParameter(this.#operation.query, name)
    this.#query ??= queryOf(this.#raw.url, this.#operation)
    const value = this.#query.get(name)
    if (value?.includes('\0')) throw problem('invalid_query', { reason: `The parameter ${name} holds NUL.` })
    return value
  }

  /** The members of the JSON body; an empty body has none. The form is what the document says that they should be. */
  members(form: Form): Members {
    requireDeclared(this.#operation.body, form)
    this.#requireJson()
    const text = textOfBody(this.#raw.body)
    if (text === '') return {}
    const value = parseJson(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw problem('malformed_request', { reason: 'The body must be a JSON object.' })
    }
    requireStorable(value, limits.jsonDepthMax)
    return value as Members
  }

  #requireJson(): void {
    const given = this.#raw.headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase()
    if (given !== undefined && given !== '' && given !== 'application/json') {
      throw problem('malformed_request', { reason: `Content type '${given}' isn't supported, use application/json.` })
    }
  }
}
