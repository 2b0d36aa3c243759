// A request as compute's handlers see it, and the answer that they give.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../process/context.ts'
import type { Caller } from '../../identity/caller.ts'
import { limits } from '../../shared/limits.ts'
import { NOBODY } from '../../metal/nodes/provider.ts'
import { problem } from '../../problems/problem.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { type Form, type Operation, requireDeclared, requireParameter } from '../operation.ts'
import { queryOf } from '../query.ts'
import type { Check } from '../schema.ts'
import type { ComputeAction } from './policy.ts'
import { PREFIX } from './prefix.ts'

export interface Answer {
  status: number
  body?: object
  /** Path below /v2.1. */
  location?: string
}

export class ComputeRequest {
  readonly context: Context
  readonly caller: Caller
  /** Where this API is for the client: links begin with it. */
  readonly base: string
  readonly #operation: Operation
  readonly #raw: FastifyRequest
  /** What the caller was found to be allowed. */
  readonly #asked: ComputeAction[] = []
  #query: URLSearchParams | undefined

  constructor(context: Context, caller: Caller, operation: Operation, raw: FastifyRequest) {
    this.context = context
    this.caller = caller
    this.#operation = operation
    this.base = `${raw.protocol}://${raw.host}${PREFIX}`
    this.#raw = raw
  }

  get now(): number {
    return this.context.clock.now()
  }

  /** What belongs to a project is looked up among the caller's own, so only the role is left to ask for. */
  may(action: ComputeAction): boolean {
    return this.context.policy.allows(action, this.caller, { project: this.caller.project })
  }

  requireAllowed(action: ComputeAction): void {
    if (!this.may(action)) throw problem('forbidden', { action })
    this.#asked.push(action)
  }

  /** The project that the caller acts for. */
  get project(): string {
    return this.caller.project ?? NOBODY.project
  }

  get user(): string {
    return this.caller.user || NOBODY.user
  }

  /** Whose servers the caller acts on; null for everyone's: who sees them all must also be allowed this on all of them. */
  get seesServersOf(): string | null {
    const { policy } = this.context
    const actions: ComputeAction[] = ['os_compute_api:servers:list_all', ...this.#asked]
    return actions.every(action => policy.allows(action, this.caller)) ? null : this.project
  }

  /** Whose flavors the caller sees; null for everyone's. Public ones everyone sees. */
  get seesFlavorsOf(): string | null {
    return this.may('os_compute_api:flavors:list_all') ? null : this.project
  }

  param(name: string): string {
    return (this.#raw.params as Record<string, string>)[name]!
  }

  get query(): URLSearchParams {
    return (this.#query ??= queryOf(this.#raw.url, this.#operation))
  }

  /** A parameter of the query; unknown ones are passed over, as clients of compute expect. */
  parameter(name: string): string | null {
    requireParameter(this.#operation.query, name)
    const value = this.query.get(name)
    if (value?.includes('\0')) throw problem('compute_invalid', { reason: `The parameter ${name} holds NUL.` })
    return value
  }

  /** The JSON of the body, whatever it is; the form is what the document says that it should be. */
  json(form: Form): unknown {
    requireDeclared(this.#operation.body, form)
    const value = parseJson(textOfBody(this.#raw.body))
    requireStorable(value, limits.jsonDepthMax)
    return value
  }

  body<T>(check: Check<T>): T {
    const checked = check(this.json(check))
    if (!checked.ok) throw problem('invalid_body', { reason: checked.reason })
    return checked.value
  }
}
