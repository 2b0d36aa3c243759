// A request as bare metal's handlers see it, and the answer that they give.
import type { FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { Context } from '../../process/context.ts'
import type { Caller } from '../../identity/caller.ts'
import { limits } from '../../shared/limits.ts'
import { flagOf } from '../../metal/nodes/attributes.ts'
import { type Access, isSeen, type Tenancy } from '../../metal/access.ts'
import type { Json } from '../../metal/drivers/port.ts'
import { NOBODY, type Principal } from '../../metal/nodes/provider.ts'
import { problem } from '../../problems/problem.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { type Form, type Operation, requireDeclared } from '../operation.ts'
import { type Action, requireAllowed } from '../policy.ts'
import { queryOf } from '../query.ts'
import { PREFIX } from './prefix.ts'
import { type Has, requireWord, type Version, type Word } from './versions.ts'

export interface Answer {
  status: number
  /** Written as JSON, unless it is that already. */
  body?: object | string | Buffer
  /** Path below /v1. */
  location?: string
}

/** What a request needs to know of the route that it came by. */
interface Served {
  action: Action | null
  operation: Operation
}

/** The parameters that a query may have. */
export interface Parameters extends Form {
  names: ReadonlySet<string>
}

export const parametersOf = (shapes: Readonly<Record<string, TSchema>>): Parameters => ({
  names: new Set(Object.keys(shapes)),
  schema: Type.Object(Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, Type.Optional(shape)])), {
    additionalProperties: false,
  }),
})

export const NO_PARAMETERS = parametersOf({})

export class MetalRequest {
  readonly context: Context
  readonly caller: Caller
  readonly version: Version
  readonly #action: Action | null
  readonly #operation: Operation
  /** Where this API is for the client: links begin with it. */
  readonly base: string
  readonly #raw: FastifyRequest
  #query: URLSearchParams | undefined

  constructor(context: Context, caller: Caller, version: Version, route: Served, raw: FastifyRequest) {
    this.context = context
    this.caller = caller
    this.version = version
    this.#action = route.action
    this.#operation = route.operation
    this.base = `${raw.protocol}://${raw.host}${PREFIX}`
    this.#raw = raw
  }

  get has(): Has {
    return this.version.has
  }

  get id(): string {
    return this.#raw.id
  }

  get now(): number {
    return this.context.clock.now()
  }

  get principal(): Principal {
    return { project: this.caller.project ?? NOBODY.project, user: this.caller.user || NOBODY.user }
  }

  /** What the caller sees, and may do there: the route's action, unless the body says more exactly what it is about. */
  access(actions: readonly Action[] = this.#action === null ? [] : [this.#action]): Access {
    const { context, caller } = this
    const view = { all: this.may('baremetal:node:list_all') ? 1 : 0, project: caller.project } as const
    const permit = (whose: Tenancy) => {
      for (const action of actions) requireAllowed(context.policy, action, caller, whose)
    }
    return { view, permit }
  }

  /** Whether a hold of this project is there for the caller. */
  seesHold(owner: string | null): boolean {
    return isSeen(owner, this.access().view) && this.may('baremetal:reservation:get', { project: owner })
  }

  /** For whom something is made: those who may make it for others say for whom, and all others have their project. */
  ownerOr(given: string | null, forOthers: Action): string | null {
    if (this.may(forOthers)) return given
    const { project } = this.caller
    if (project === null || (given !== null && given !== project)) throw problem('forbidden', { action: forOthers })
    return project
  }

  may(action: Action, whose?: Tenancy): boolean {
    return this.context.policy.allows(action, this.caller, whose)
  }

  require(word: Word, what: string): void {
    requireWord(this.version, word, what)
  }

  param(name: string): string {
    return (this.#raw.params as Record<string, string>)[name]!
  }

  get query(): URLSearchParams {
    return (this.#query ??= queryOf(this.#raw.url, this.#operation))
  }

  /** The parameters, known to be only these. */
  parameters(known: Parameters): Map<string, string> {
    requireDeclared(this.#operation.query, known)
    const given = new Map(this.query)
    for (const [name, value] of given) {
      if (!known.names.has(name))
        throw problem('invalid_parameter', { reason: `Unknown parameter ${name.slice(0, 100)}.` })
      if (value.includes('\0')) throw problem('invalid_parameter', { reason: `The parameter ${name} holds NUL.` })
    }
    return given
  }

  get hasBody(): boolean {
    return this.#raw.body instanceof Buffer && this.#raw.body.length > 0
  }

  /** The JSON of the body, whatever it is; the form is what the document says that it should be. */
  json(form: Form): unknown {
    requireDeclared(this.#operation.body, form)
    const value = parseJson(textOfBody(this.#raw.body))
    requireStorable(value, limits.jsonDepthMax)
    return value
  }

  /** The body, known to be an object. */
  object(form: Form): Json {
    const value = this.json(form)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw problem('invalid_body', { reason: 'expected an object' })
    }
    return value as Json
  }
}

/** A truth value in a query, in any spelling. */
export function flagParameter(name: string, value: string): boolean {
  const flag = flagOf(value)
  if (flag === null)
    throw problem('invalid_parameter', { reason: `Invalid value for ${name}: ${value.slice(0, 100)} is no boolean.` })
  return flag
}
