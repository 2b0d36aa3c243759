// Placement's front door. The order of the checks is the one that clients know:
// token, version, content headers, route, method, then the handler's own version, media type and permission.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../process/context.ts'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import { type Admission, bodyLimitOf } from '../../http/admission.ts'
import { audited } from '../../http/audited.ts'
import { problemOf, retryAfter } from '../../http/failures.ts'
import { requireAllowed } from '../policy.ts'
import { renderError } from './errors.ts'
import { type Answer, PlacementRequest } from './request.ts'
import { BULK, type Route, routes } from './routes.ts'
import { negotiate, type Version } from './versions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    placementVersion: Version | null
  }
}

const JSON_TYPE = 'application/json'
const TEXT_BYTES_MAX = 64 * 1024

export function placement(context: Context, admission: Admission) {
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.decorateRequest('placementVersion', null)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))

    const checkHead = (request: FastifyRequest) => {
      request.placementVersion = negotiate(request.headers['openstack-api-version'])
      checkLine(request)
      checkContentHeaders(request)
    }
    const ask = admission.asking(checkHead)
    app.addHook('onRequest', (request, reply, next) => {
      const { url } = request.routeOptions
      if (url !== `${app.prefix}/` && url !== app.prefix) {
        ask(request, reply, next)
        return
      }
      checkHead(request)
      next()
    })
    // To text fastify adds a charset, and clients compare.
    app.addHook('onSend', (_request, reply, payload, sent) => {
      if (typeof payload === 'string' && reply.hasHeader('content-type')) void reply.header('content-type', JSON_TYPE)
      sent(null, payload)
    })
    app.setErrorHandler((error, request, reply) => refuse(app, context, error, request, reply))

    for (const [path, methods] of Object.entries(routes)) {
      const allowed = Object.keys(methods).join(', ')
      app.all(path, { bodyLimit: bodyLimitOf(BULK, path) }, async (request, reply) => {
        // The router takes `/resource_providers/` for a provider without a name; upstream knows no such route.
        if (Object.values(request.params as object).includes('')) throw problem('route_not_found', {})
        const route = methods[request.method as keyof typeof methods]
        if (!route) {
          void reply.header('allow', allowed)
          throw problem('method_not_allowed', {})
        }
        return serve(app, context, route, request, reply)
      })
    }
    const noRoute = () => {
      throw problem('route_not_found', {})
    }
    app.all('/*', { preParsing: noRoute }, noRoute)
    // Methods that fastify routes nowhere, like PURGE.
    app.setNotFoundHandler(noRoute)
    done()
  }
}

function checkLine({ url }: FastifyRequest): void {
  if (url.length > limits.urlBytesMax) throw problem('uri_too_long', { reason: `at most ${limits.urlBytesMax} bytes` })
  // No name holds one, and PostgreSQL would choke on it.
  if (url.includes('%00')) throw problem('malformed_request', { reason: 'the URL holds NUL' })
}

function checkContentHeaders({ headers }: FastifyRequest): void {
  if (Number(headers['content-length'] ?? 0) > 0 && !headers['content-type']) {
    throw problem('malformed_request', { reason: 'content-type header required when content-length > 0' })
  }
}

async function serve(app: FastifyInstance, context: Context, route: Route, raw: FastifyRequest, reply: FastifyReply) {
  const version = raw.placementVersion!
  const caller = raw.caller!
  const own = route.action === null ? context : audited(context, raw, { caller, action: route.action })
  const request = new PlacementRequest(own, caller, version, route.handle.operation, raw)
  if (route.mediaTypeFirst) checkMediaType(route, request)
  if (route.needs && !version.has[route.needs]) throw problem(route.absent ?? 'route_not_found', {})
  if (!route.mediaTypeFirst) checkMediaType(route, request)
  if (route.action !== null) {
    requireAllowed(context.policy, route.action, request.caller, { project: route.project?.(request) ?? null })
  }
  return send(app, await route.handle(request), version, raw, reply)
}

function checkMediaType({ json }: Route, request: PlacementRequest): void {
  if (json === 'body') request.requireJsonBody()
  if (json === 'answer') request.requireJsonAccepted()
}

function send(app: FastifyInstance, answer: Answer, version: Version, raw: FastifyRequest, reply: FastifyReply) {
  void reply.code(answer.status).header('openstack-api-version', version.header).header('vary', 'openstack-api-version')
  if (answer.location !== undefined) {
    void reply.header('location', `${raw.protocol}://${raw.host}${app.prefix}${answer.location}`)
  }
  if (version.has.cacheHeaders && answer.modified !== undefined) {
    void reply.header('cache-control', 'no-cache')
    if (answer.modified !== null) void reply.header('last-modified', new Date(answer.modified).toUTCString())
  }
  if (answer.headers) void reply.headers(answer.headers)
  if (answer.body === undefined) return reply.send()
  return reply.header('content-type', JSON_TYPE).send(textOf(answer.body))
}

/** Short answers as text: Node writes it with the headers in one go, and a buffer by itself. */
function textOf(body: object | Buffer): string | Buffer {
  if (!(body instanceof Buffer)) return JSON.stringify(body)
  return body.length > TEXT_BYTES_MAX ? body : body.toString('latin1')
}

function refuse(app: FastifyInstance, context: Context, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const found = problemOf(error, request, context)
  if (found.kind === 'unauthorized') return unauthorized(reply, found.message)
  const version = request.placementVersion
  const { status, contentType, body, early } = renderError(found, {
    method: request.method,
    accept: request.headers.accept,
    requestId: request.id,
    hasErrorCodes: version?.has.errorCodes ?? null,
  })
  if (version) void reply.header('openstack-api-version', version.header)
  if (version && !early) void reply.header('vary', 'openstack-api-version')
  const retry = retryAfter(found)
  if (retry !== null) void reply.header('retry-after', retry)
  return reply.code(status).header('content-type', contentType).send(Buffer.from(body))
}

// Not in the format of the other errors: upstream it comes from the middleware in front of Placement.
function unauthorized(reply: FastifyReply, message: string) {
  return reply
    .code(401)
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify({ message, code: '401 Unauthorized', title: 'Unauthorized' })))
}
