// Mounts a dialect below its prefix: hooks, routes, answers and refusals, as its description says.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Admission, type Hook, jsonOnly, leave } from '../../http/admission.ts'
import { problemOf, retryAfter } from '../../http/failures.ts'
import { Pieces, sending } from '../../http/pieces.ts'
import { Long, written } from '../../http/written.ts'
import { upgrade } from '../../http/upgrades.ts'
import { networkOf } from '../../identity/networks.ts'
import { problem } from '../../problems/problem.ts'
import type { Context } from '../../process/context.ts'
import { workFor } from '../../shared/line.ts'
import { limits } from '../../shared/limits.ts'
import { turnOfLoop } from '../../shared/loop.ts'
import { audited } from './audited.ts'
import {
  type Answer,
  type Checks,
  type Dialect,
  JSON_TYPE,
  type Methods,
  TOKEN,
  type VersionDocument,
} from './dialect.ts'
import { Request } from './request.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request as handlers see it; null until it reaches a dialect. */
    asked: object | null
  }
}

export function mount<Word extends string>(
  app: FastifyInstance,
  dialect: Dialect<Word>,
  context: Context,
  admission: Admission,
): void {
  const { checks, prefix, routes } = dialect
  void app.register(
    (scope, _, done) => {
      scope.removeAllContentTypeParsers()
      // JSON by its name: fastify keeps the parser of a type that it knows, and reads all others again each time.
      scope.addContentTypeParser([JSON_TYPE, '*'], { parseAs: 'buffer' }, (_request, body, parsed) =>
        parsed(null, body),
      )
      if (dialect.jsonBodies) scope.addHook('preParsing', jsonOnly(context))
      scope.setErrorHandler(refusing(dialect, context))
      const everywhere = hookOf(dialect, checks.everywhere, admission)
      scope.addHook('onRequest', (raw, reply, next) => {
        raw.asked = new Request(dialect, context, raw)
        everywhere(raw, reply, next)
      })
      for (const [path, document] of Object.entries(dialect.documents ?? {})) {
        scope.get(path, (raw, reply) => showDocument(dialect, document, context, raw, reply))
      }
      for (const [path, methods] of Object.entries(routes)) {
        const config = { lasts: Object.values(methods).some(({ lasts = false }) => lasts) }
        const options = { bodyLimit: bodyLimitOf(dialect, path), config, ...onRequest(dialect, methods, admission) }
        const handler = (raw: FastifyRequest, reply: FastifyReply) => serve(dialect, methods, raw, reply)
        for (const url of urlsOf(dialect, path)) scope.all(url, options, handler)
      }
      if (!dialect.isPartOfRoot) {
        scope.all('/*', { preParsing: noRoute }, noRoute)
        // Methods that fastify routes nowhere, like PURGE.
        scope.setNotFoundHandler(noRoute)
      }
      done()
    },
    { prefix },
  )
}

export const noRoute = () => {
  throw problem('route_not_found', {})
}

/** All URLs of a path of the table, below the prefix. */
const urlsOf = <Word extends string>({ below, spellings }: Dialect<Word>, path: string): string[] =>
  [path, ...(spellings?.(path) ?? [])].map(one => below + one)

/** The longest body that a path takes. Of strangers little is read. */
const bodyLimitOf = <Word extends string>(
  { bulk, routes, bodyBytesMax = limits.bodyBytesMax }: Dialect<Word>,
  path: string,
): number => {
  if (bulk?.has(path)) return limits.bulkBodyBytesMax
  const isOpen = Object.values(routes[path]!).some(({ isOpen = false }) => isOpen)
  return isOpen ? limits.strangersBodyBytesMax : bodyBytesMax
}

function onRequest<Word extends string>(dialect: Dialect<Word>, methods: Methods<Word>, admission: Admission) {
  const { beforeBody } = dialect.checks
  if (!beforeBody) return {}
  const check = hookOf(dialect, beforeBody, admission)
  const hook: Hook = (raw, reply, next) => {
    askedOf<Word>(raw).enter(methods)
    check(raw, reply, next)
  }
  return { onRequest: hook }
}

/** Makes a hook of some checks. The checks after TOKEN wait until the caller is authenticated. */
function hookOf<Word extends string>(dialect: Dialect<Word>, checks: Checks<Word>, admission: Admission): Hook {
  const at = checks.indexOf(TOKEN)
  const [first, rest] = at < 0 ? [checks, []] : [checks.slice(0, at), checks.slice(at + 1)]
  const ask = admission.asking((raw, reply) => run(rest, askedOf<Word>(raw), reply), dialect.nobody)
  return (raw, reply, next) => {
    const request = askedOf<Word>(raw)
    run(first, request, reply)
    if (at >= 0 && !dialect.isOpen?.(request)) {
      ask(raw, reply, next)
      return
    }
    run(rest, request, reply)
    next()
  }
}

function run<Word extends string>(checks: Checks<Word>, request: Request<Word>, reply: FastifyReply): void {
  for (const check of checks) if (check !== TOKEN) check(request, reply)
}

const askedOf = <Word extends string>(raw: FastifyRequest) => raw.asked as Request<Word>

async function serve<Word extends string>(
  dialect: Dialect<Word>,
  methods: Methods<Word>,
  raw: FastifyRequest,
  reply: FastifyReply,
) {
  const request = askedOf<Word>(raw)
  request.enter(methods)
  run(dialect.checks.beforeHandler, request, reply)
  const { action, isAccepted = false, lasts = false } = request.route!
  if (lasts) leave(reply)
  const mayChange = action !== null && raw.method !== 'GET' && raw.method !== 'HEAD'
  if (mayChange) request.context = audited(request.context, raw, { caller: request.caller, action, isAccepted })
  return workFor(holderOf(raw), () => answerTo(request, reply))
}

/** Begins at once if there is time in this turn of the event loop. */
async function answerTo<Word extends string>(request: Request<Word>, reply: FastifyReply) {
  const turn = turnOfLoop()
  if (turn) await turn
  const answer = await request.route!.handle(request)
  const body = bodyOf(answer.body)
  if (!(body instanceof Pieces || body instanceof Long)) return send(request, answer, body, reply)
  // Made before the head is written: it may still be refused.
  const { bytes, stream } = await sending(body, holderOf(request.raw), reply)
  void reply.header('content-length', bytes)
  return send(request, answer, stream, reply)
}

/** The body as it leaves: objects as JSON, and all that is long in pieces. */
function bodyOf(body: Answer['body']): string | Buffer | Readable | Pieces | Long | undefined {
  if (body === undefined || body instanceof Readable || body instanceof Pieces) return body
  if (body instanceof Buffer) return body.length > limits.answerPieceBytes ? Pieces.of(body) : body
  if (typeof body === 'string') return body.length > limits.answerPieceBytes ? Pieces.of(Buffer.from(body)) : body
  return written(body)
}

function send<Word extends string>(
  request: Request<Word>,
  answer: Answer,
  body: string | Buffer | Readable | undefined,
  reply: FastifyReply,
) {
  const { dialect, negotiated } = request
  const { status, headers, location, modified, lasts = false, upgraded } = answer
  if (lasts) leave(reply)
  if (upgraded) return upgrade(request.raw, reply, upgraded)
  void reply.code(status)
  if (negotiated) void reply.headers(negotiated.headers)
  if (location !== undefined) void reply.header('location', request.base + dialect.below + location)
  if (modified !== undefined && dialect.caching && negotiated?.has[dialect.caching]) {
    void reply.header('cache-control', 'no-cache')
    if (modified !== null) void reply.header('last-modified', new Date(modified).toUTCString())
  }
  if (body !== undefined) void reply.header('content-type', dialect.type)
  if (headers) void reply.headers(headers)
  // With a serializer of ours fastify adds no charset: upstream sends none, and clients compare.
  if (dialect.type === JSON_TYPE) void reply.serializer(asItIs)
  return reply.send(body)
}

const holderOf = ({ caller, ip }: FastifyRequest) => caller?.project ?? `address ${networkOf(ip)}`

const asItIs = (text: string) => text

function showDocument<Word extends string>(
  { type, documentType = type, prefix }: Dialect<Word>,
  { show, location }: VersionDocument,
  { config }: Context,
  raw: FastifyRequest,
  reply: FastifyReply,
) {
  const base = `${raw.protocol}://${raw.host}${prefix}`
  if (location !== undefined) void reply.header('location', base + location)
  const [status] = Object.keys(show.operation.answers)
  return reply
    .code(Number(status))
    .header('content-type', documentType)
    .send(Buffer.from(JSON.stringify(show(base, config))))
}

/** The error handler of a dialect. */
export const refusing =
  <Word extends string>(dialect: Dialect<Word>, context: Context) =>
  (error: unknown, raw: FastifyRequest, reply: FastifyReply) => {
    const found = problemOf(error, raw, context)
    // A request refused before it reached the dialect gets the dialect's format, too.
    const request = (raw.asked as Request<Word> | null) ?? new Request(dialect, context, raw)
    const { status, body, type = dialect.type, headers } = dialect.render(found, request)
    if (headers) void reply.headers(headers)
    if (found.kind === 'method_not_allowed' && request.methods && !request.route) {
      void reply.header('allow', Object.keys(request.methods).join(', '))
    }
    const retry = retryAfter(found)
    if (retry !== null) void reply.header('retry-after', retry)
    return reply
      .code(status)
      .header('content-type', type)
      .send(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
  }
