// A request as the handlers of every dialect see it.
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../identity/caller.ts'
import type { Target } from '../../identity/policy.ts'
import type { Access } from '../../metal/access.ts'
import { NOBODY, type Principal } from '../../metal/nodes/provider.ts'
import { problem } from '../../problems/problem.ts'
import type { Context } from '../../process/context.ts'
import { isObject } from '../../shared/is-object.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { type Form, type Operation, requireDeclared, requireParameter } from '../operation.ts'
import type { Action } from '../policy.ts'
import { queryOf } from '../query.ts'
import type { Check } from '../schema.ts'
import type { Dialect, Methods, Route } from './dialect.ts'
import { requireWord, type Version } from './versions.ts'

export type Members = Record<string, unknown>

/** A form of a query that lists its parameters. */
interface Parameters extends Form {
  names: ReadonlySet<string>
}

export class Request<Word extends string = never> {
  readonly dialect: Dialect<Word>
  /** What everything is done with. Handlers have one that writes the audit. */
  context: Context
  /** For the frame, and for what the framework leaves unread. */
  readonly raw: FastifyRequest
  /** What the path takes; null until that is known. */
  methods: Methods<Word> | null = null
  /** Who answers; null where the method is none of these. */
  route: Route<Word> | null = null
  /** Null until it was asked for, and where a dialect has only one. */
  negotiated: Version<Word> | null = null
  /** Its path and method have a handler. */
  isServed = false
  /** What the caller was found to be allowed. */
  #asked: Action[] = []
  #query: URLSearchParams | undefined
  #base: string | undefined

  constructor(dialect: Dialect<Word>, context: Context, raw: FastifyRequest) {
    this.dialect = dialect
    this.context = context
    this.raw = raw
  }

  /** The same request in the words of another dialect. */
  as<Other extends string>(dialect: Dialect<Other>, version: Version<Other> | null = null): Request<Other> {
    const other = new Request(dialect, this.context, this.raw)
    other.route = this.route as unknown as Route<Other>
    other.negotiated = version
    other.#asked = this.#asked
    return other
  }

  /** At a path that takes these methods. */
  enter(methods: Methods<Word>): void {
    const { method } = this.raw
    this.methods = methods
    this.route = methods[(method === 'HEAD' && this.dialect.headIsGet ? 'GET' : method) as keyof Methods] ?? null
  }

  get version(): Version<Word> {
    return this.negotiated!
  }

  get has(): Version<Word>['has'] {
    return this.negotiated!.has
  }

  /** Refuses what the client's version does not have. */
  require(word: Word, what: string): void {
    requireWord(this.version, word, what)
  }

  get id(): string {
    return this.raw.id
  }

  get now(): number {
    return this.context.clock.now()
  }

  /** The host that the client spoke to. */
  get origin(): string {
    return `${this.raw.protocol}://${this.raw.host}`
  }

  /** Where this API is for the client: links begin with it. */
  get base(): string {
    return (this.#base ??= this.origin + this.dialect.prefix)
  }

  get caller(): Caller {
    const { caller } = this.raw
    if (!caller) throw problem(this.dialect.nobody ?? 'unauthorized', {})
    return caller
  }

  /** The project that the caller acts for. */
  get project(): string {
    return this.caller.project ?? NOBODY.project
  }

  get user(): string {
    return this.caller.user || NOBODY.user
  }

  /** Whose new things these are. */
  get principal(): Principal {
    return { project: this.project, user: this.user }
  }

  may(action: Action, target: Target = this.#target): boolean {
    return this.context.policy.allows(action, this.caller, target)
  }

  requireAllowed(action: Action, target?: Target): void {
    if (!this.may(action, target)) throw problem(this.dialect.forbidden ?? 'forbidden', { action })
    this.#asked.push(action)
  }

  get #target(): Target {
    return this.dialect.ownProject ? { project: this.caller.project } : {}
  }

  /** Whose things the caller acts on; null for everyone's: who sees them all must also be allowed this on all of them. */
  get visible(): string | null {
    const actions = [this.dialect.seesAll!, ...this.#asked]
    return actions.every(action => this.may(action, {})) ? null : this.project
  }

  /** What the caller sees, and may do there: the route's action, unless the body says more exactly what it is about. */
  access(actions?: readonly Action[]): Access {
    const { action } = this.route!
    const needed = actions ?? (action === null ? [] : [action])
    const view = { all: this.may(this.dialect.seesAll!, {}) ? 1 : 0, project: this.caller.project } as const
    const permit: Access['permit'] = whose => {
      for (const one of needed) if (!this.may(one, whose)) throw problem('forbidden', { action: one })
    }
    return { view, permit }
  }

  /** What the path names. */
  param(name: string): string {
    const value = (this.raw.params as Record<string, string>)[name]!
    const { suffix } = this.dialect
    return suffix !== undefined && value.endsWith(suffix) ? value.slice(0, -suffix.length) : value
  }

  header(name: string): string | null {
    const value = this.raw.headers[name]
    return typeof value === 'string' ? value : null
  }

  get #operation(): Operation {
    return this.route!.handle.operation
  }

  get query(): URLSearchParams {
    return (this.#query ??= queryOf(this.raw.url, this.#operation, this.dialect.mayRepeat))
  }

  /** A parameter of the query; null when it isn't there. */
  parameter(name: string): string | null {
    requireParameter(this.#operation.query, name)
    const value = this.query.get(name)
    if (value !== null) this.#requireNoNul(name, value)
    return value
  }

  /** The parameters, known to be only these. */
  parameters(known: Parameters): Map<string, string> {
    requireDeclared(this.#operation.query, known)
    const given = new Map(this.query)
    for (const [name, value] of given) {
      if (!known.names.has(name)) {
        throw problem('invalid_parameter', { reason: `Unknown parameter ${name.slice(0, 100)}.` })
      }
      this.#requireNoNul(name, value)
    }
    return given
  }

  #requireNoNul(name: string, value: string): void {
    const { invalidParameter: kind } = this.dialect
    if (kind !== undefined && value.includes('\0')) throw problem(kind, { reason: `The parameter ${name} holds NUL.` })
  }

  /** The query, known to have the schema's shape; of a key that may repeat the first value. */
  checkedQuery<T>(check: Check<T>): T {
    requireDeclared(this.#operation.query, check)
    const checked = check(Object.fromEntries([...this.query].toReversed()))
    if (!checked.ok) throw problem('invalid_query', { reason: `Invalid query string parameters: ${checked.reason}` })
    return checked.value
  }

  get hasBody(): boolean {
    return this.raw.body instanceof Buffer && this.raw.body.length > 0
  }

  /** The JSON of the body, whatever it is; the form is what the document says that it should be. */
  json(form: Form): unknown {
    return this.read(form, value => value)
  }

  /** The JSON body, known to have the schema's shape. */
  body<T>(check: Check<T>): T {
    return this.read(check, value => {
      const checked = check(value)
      if (!checked.ok) throw problem('invalid_body', { reason: checked.reason })
      return checked.value
    })
  }

  /** The body, known to be an object. */
  object(form: Form): Members {
    return this.read(form, value => {
      if (isObject(value)) return value
      throw problem('invalid_body', { reason: 'expected an object' })
    })
  }

  /** The body in a shape, which `shaped` gives it or refuses. */
  read<T>(form: Form, shaped: (value: unknown) => T): T {
    requireDeclared(this.#operation.body, form)
    const text = textOfBody(this.raw.body)
    const value = parseJson(text)
    // Only an escape can bring in what can't be stored, so most bodies needn't be looked through for it.
    const isPlain = !text.includes('\\u')
    const { shapeFirst } = this.dialect
    if (!isPlain && !shapeFirst) requireStorable(value)
    const found = shaped(value)
    if (!isPlain && shapeFirst) requireStorable(value)
    return found
  }
}
