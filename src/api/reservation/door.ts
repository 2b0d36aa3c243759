// The reservation API's front door: token, version, route, method, then permission and the handler.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../process/context.ts'
import type { Admission } from '../../http/admission.ts'
import { audited } from '../../http/audited.ts'
import { problemOf, retryAfter } from '../../http/failures.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { requireAllowed } from '../policy.ts'
import { renderError } from './errors.ts'
import { ReservationRequest } from './request.ts'
import { type Method, type Route, routes } from './routes.ts'
import { requireVersion, VERSION, versionDocument } from './versions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A handler has it: from here on errors have the handlers' form. */
    isReservationServed: boolean
  }
}

const JSON_TYPE = 'application/json'

export function reservation(context: Context, admission: Admission) {
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.decorateRequest('isReservationServed', false)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
    app.addHook('onRequest', (request, reply, next) => {
      void reply.headers({ 'openstack-api-version': `reservation ${VERSION}`, vary: 'OpenStack-API-Version' })
      checkLine(request)
      next()
    })
    app.addHook(
      'onRequest',
      admission.asking(({ headers }) => requireVersion(headers['openstack-api-version'])),
    )
    app.setErrorHandler((error, request, reply) => {
      const found = problemOf(error, request, context)
      const { status, body } = renderError(found, request.isReservationServed)
      if (status === 401) void reply.header('www-authenticate', 'Keystone')
      const retry = retryAfter(found)
      if (retry !== null) void reply.header('retry-after', retry)
      return reply.code(status).header('content-type', JSON_TYPE).send(JSON.stringify(body))
    })
    // To text fastify adds a charset, and clients compare.
    app.addHook('onSend', (_request, reply, payload, sent) => {
      if (reply.hasHeader('content-type')) void reply.header('content-type', JSON_TYPE)
      sent(null, payload)
    })

    const versions = async (request: FastifyRequest, reply: FastifyReply) => {
      const body = versionDocument(`${request.protocol}://${request.host}${app.prefix}`)
      return reply.code(300).header('content-type', JSON_TYPE).send(JSON.stringify(body))
    }
    for (const path of ['/', '/versions', '/versions.json']) app.get(path, versions)
    for (const [path, methods] of Object.entries(routes)) {
      const handler = (request: FastifyRequest, reply: FastifyReply) => serve(context, methods, request, reply)
      app.all(`/v1${path}`, handler)
      // Where the path ends in a name, the suffix comes with it.
      if (!/:\w+$/.test(path)) app.all(`/v1${path}.json`, handler)
    }
    const noRoute = () => {
      throw problem('route_not_found', {})
    }
    app.all('/*', { preParsing: noRoute }, noRoute)
    app.setNotFoundHandler(noRoute)
    done()
  }
}

function checkLine({ url }: FastifyRequest): void {
  if (url.length > limits.urlBytesMax) throw problem('uri_too_long', { reason: `at most ${limits.urlBytesMax} bytes` })
  // No name holds one, and PostgreSQL would choke on it.
  if (url.includes('%00')) throw problem('malformed_request', { reason: 'The URL holds NUL.' })
}

async function serve(
  context: Context,
  methods: Partial<Record<Method, Route>>,
  raw: FastifyRequest,
  reply: FastifyReply,
) {
  const params = paramsOf(raw)
  // The router takes `/leases/` for a lease without an id.
  if (Object.values(params).includes('')) throw problem('route_not_found', {})
  const route = methods[(raw.method === 'HEAD' ? 'GET' : raw.method) as Method]
  if (!route) {
    void reply.header('allow', Object.keys(methods).join(', '))
    throw problem('method_not_allowed', {})
  }
  raw.isReservationServed = true
  const caller = raw.caller!
  const { action } = route
  // What belongs to a project is looked up among the caller's own, so only the role is left to ask for.
  requireAllowed(context.policy, action, caller, { project: caller.project })
  const own = audited(context, raw, { caller, action })
  const { status, body } = await route.handle(
    new ReservationRequest(own, caller, { action, operation: route.handle.operation }, raw, params),
  )
  void reply.code(status)
  return body === undefined ? reply.send() : reply.header('content-type', JSON_TYPE).send(JSON.stringify(body))
}

/** What the path names, without the suffix that every path may have. */
function paramsOf({ params }: FastifyRequest): Record<string, string> {
  const named = Object.entries(params as Record<string, string>)
  return Object.fromEntries(named.map(([name, value]) => [name, value.replace(/\.json$/, '')]))
}
