// A request as the handlers of every dialect see it.
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../identity/caller.ts'
import type { Target } from '../../identity/policy.ts'
import type { Access } from '../../metal/access.ts'
import { NOBODY, type Principal } from '../../metal/nodes/provider.ts'
import { problem } from '../../problems/problem.ts'
import type { Context } from '../../process/context.ts'
import { isObject } from '../../shared/is-object.ts'
import { limits } from '../../shared/limits.ts'
import { runYielding } from '../../shared/yielding.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { type Form, type Operation, requireDeclared, requireParameter } from '../operation.ts'
import type { Action } from '../policy.ts'
import { queryOf } from '../query.ts'
import { type Check, partsPass } from '../schema.ts'
import type { Dialect, Methods, Route } from './dialect.ts'
import { requireWord, type Version } from './versions.ts'

export type Members = Record<string, unknown>

/** A query form that lists its parameters. */
interface Parameters extends Form {
  names: ReadonlySet<string>
}

export class Request<Word extends string = never> {
  readonly dialect: Dialect<Word>
  /** The process's context. Handlers get one whose writes are audited. */
  context: Context
  /** Fastify's request, for the frame and for what this class doesn't offer. */
  readonly raw: FastifyRequest
  /** The methods of the path; null until the path is known. */
  methods: Methods<Word> | null = null
  /** The route of the method; null if the path doesn't have the method. */
  route: Route<Word> | null = null
  /** The version; null until it is negotiated, and in dialects with only one. */
  negotiated: Version<Word> | null = null
  /** Whether its path and method have a handler. */
  isServed = false
  /** The permissions that were checked and granted. */
  #asked: Action[] = []
  #query: URLSearchParams | undefined
  #base: string | undefined

  constructor(dialect: Dialect<Word>, context: Context, raw: FastifyRequest) {
    this.dialect = dialect
    this.context = context
    this.raw = raw
  }

  /** The same request for the handlers of another dialect. */
  as<Other extends string>(dialect: Dialect<Other>, version: Version<Other> | null = null): Request<Other> {
    const other = new Request(dialect, this.context, this.raw)
    other.route = this.route as unknown as Route<Other>
    other.negotiated = version
    other.#asked = this.#asked
    return other
  }

  /** Sets the methods of the path, and so the route. */
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

  /** Scheme and host that the client called. */
  get origin(): string {
    return `${this.raw.protocol}://${this.raw.host}`
  }

  /** This API's URL as the client sees it: links begin with it. */
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

  /** The owner of what this request creates. */
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

  /** The project that the caller is limited to; null for none: that needs `seesAll` and this action on all projects. */
  get visible(): string | null {
    const actions = [this.dialect.seesAll!, ...this.#asked]
    return actions.every(action => this.may(action, {})) ? null : this.project
  }

  /** What the caller sees and may do. The needed action is the route's, unless the body asks for more exact ones. */
  access(actions?: readonly Action[]): Access {
    const { action } = this.route!
    const needed = actions ?? (action === null ? [] : [action])
    const view = { all: this.may(this.dialect.seesAll!, {}) ? 1 : 0, project: this.caller.project } as const
    const permit: Access['permit'] = whose => {
      for (const one of needed) if (!this.may(one, whose)) throw problem('forbidden', { action: one })
    }
    return { view, permit }
  }

  /** A name in the path. */
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

  /** The parameters. Others than the known ones are refused. */
  parameters(known: Parameters): Map<string, string> {
    requireDeclared(this.#operation.query, known)
    const given = new Map(this.query)
    for (const [name, value] of given) {
      if (!known.names.has(name)) {
        throw problem('invalid_parameter', {
          reason: `Unknown parameter ${name.slice(0, 100)}: there are ${[...known.names].join(', ') || 'none'}.`,
        })
      }
      this.#requireNoNul(name, value)
    }
    return given
  }

  #requireNoNul(name: string, value: string): void {
    const { invalidParameter: kind } = this.dialect
    if (kind !== undefined && value.includes('\0')) throw problem(kind, { reason: `The parameter ${name} holds NUL.` })
  }

  /** The query, checked against the schema. Of a repeated key the first value counts. */
  checkedQuery<T>(check: Check<T>): T {
    requireDeclared(this.#operation.query, check)
    const checked = check(Object.fromEntries([...this.query].toReversed()))
    if (!checked.ok) throw problem('invalid_query', { reason: `Invalid query string parameters: ${checked.reason}` })
    return checked.value
  }

  get hasBody(): boolean {
    return this.raw.body instanceof Buffer && this.raw.body.length > 0
  }

  /** The JSON of the body, unchecked. The form is only what the document shows. */
  json(form: Form): unknown {
    return this.read(form, value => value)
  }

  /** The JSON body, checked against the schema. */
  body<T>(check: Check<T>): T {
    return this.read(check, value => checkedBy(check, value))
  }

  /** Like `body`, for one that may be very long: then others get turns while it is read and checked. */
  async longBody<T>(check: Check<T>): Promise<T> {
    const { body } = this.raw
    if (!(body instanceof Buffer) || body.length <= limits.bodyBytesPerTurn) return this.body(check)
    const text = textOfBody(body)
    await turn()
    const value = parseJson(text)
    await turn()
    const areFine = await runYielding(partsPass(check, value))
    // If a part is wrong, the whole says what is wrong first.
    return this.#found(check, text, value, areFine ? () => value as T : () => checkedBy(check, value))
  }

  /** The body, which must be an object. */
  object(form: Form): Members {
    return this.read(form, value => {
      if (isObject(value)) return value
      throw problem('invalid_body', { reason: 'expected an object' })
    })
  }

  /** The body as `shaped` converts it, or refuses it. */
  read<T>(form: Form, shaped: (value: unknown) => T): T {
    const text = textOfBody(this.raw.body)
    return this.#found(form, text, parseJson(text), shaped)
  }

  #found<T>(form: Form, text: string, value: unknown, shaped: (value: unknown) => T): T {
    requireDeclared(this.#operation.body, form)
    // Only a \u escape can make a string that can't be stored, so most bodies need no search for one.
    const isPlain = !text.includes('\\u')
    const { shapeFirst } = this.dialect
    if (!isPlain && !shapeFirst) requireStorable(value)
    const found = shaped(value)
    if (!isPlain && shapeFirst) requireStorable(value)
    return found
  }
}

function checkedBy<T>(check: Check<T>, value: unknown): T {
  const checked = check(value)
  if (!checked.ok) throw problem('invalid_body', { reason: checked.reason })
  return checked.value
}
