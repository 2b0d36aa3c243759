// The Compute API's front door: token, version, route and method, permission, then the handler.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../process/context.ts'
import { type Admission, jsonOnly } from '../../http/admission.ts'
import { audited } from '../../http/audited.ts'
import { problemOf, retryAfter } from '../../http/failures.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { renderError } from './errors.ts'
import { PREFIX } from './prefix.ts'
import { ComputeRequest } from './request.ts'
import { showVersion, showVersions } from './root.ts'
import { type Method, routes } from './routes.ts'
import { requireVersion, VERSION_HEADERS } from './versions.ts'

export function compute(context: Context, admission: Admission) {
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
    app.addHook('preParsing', jsonOnly(context))
    app.addHook('onRequest', (request, reply, next) => {
      void reply.headers({ ...VERSION_HEADERS, 'x-compute-request-id': request.id })
      if (request.url.length > limits.urlBytesMax) {
        throw problem('uri_too_long', { reason: `at most ${limits.urlBytesMax} bytes` })
      }
      next()
    })
    app.setErrorHandler((error, request, reply) => {
      const found = problemOf(error, request, context)
      const { status, body } = renderError(found)
      const retry = retryAfter(found)
      if (retry !== null) void reply.header('retry-after', retry)
      return reply.code(status).send(body)
    })
    const base = (request: FastifyRequest) => `${request.protocol}://${request.host}${PREFIX}`
    app.get('/', request => showVersions(base(request)))
    app.get('/v2.1', request => showVersion(base(request)))
    app.get('/v2.1/', request => showVersion(base(request)))

    const options = { onRequest: admission.asking() }
    for (const [path, methods] of Object.entries(routes)) {
      const handler = async (raw: FastifyRequest, reply: FastifyReply) => {
        const caller = raw.caller!
        requireVersion(raw.headers)
        const route = methods[raw.method as Method]
        if (!route) {
          void reply.header('allow', Object.keys(methods).join(', '))
          throw problem('method_not_allowed', {})
        }
        for (const value of Object.values(raw.params as Record<string, string>)) {
          if (value.includes('\0')) throw problem('route_not_found', {})
        }
        const { action } = route
        const request = new ComputeRequest(
          audited(context, raw, { caller, action }),
          caller,
          route.handle.operation,
          raw,
        )
        request.requireAllowed(action)
        const { status, body, location } = await route.handle(request)
        void reply.code(status)
        if (location !== undefined) void reply.header('location', `${request.base}/v2.1${location}`)
        return body === undefined ? reply.send() : reply.send(body)
      }
      app.all(`/v2.1${path}`, options, handler)
      app.all(`/v2.1${path}/`, options, handler)
    }
    const noRoute = () => {
      throw problem('route_not_found', {})
    }
    app.all('/*', { preParsing: noRoute }, noRoute)
    app.setNotFoundHandler(noRoute)
    done()
  }
}
