// For those who run Holdfast: is it alive, is it ready, what is it doing; and the routes below /holdfast/v1.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Context } from '../../process/context.ts'
import { type Admission, bodyLimitOf, type Hook, jsonOnly } from '../../http/admission.ts'
import { audited } from '../../http/audited.ts'
import { problemOf, retryAfter } from '../../http/failures.ts'
import { ANYONE } from '../../identity/caller.ts'
import { problem, type ProblemKind } from '../../problems/problem.ts'
import { VERSION } from '../../shared/version.ts'
import { PREFIX as BAREMETAL } from '../baremetal/prefix.ts'
import { PREFIX as COMPUTE } from '../compute/prefix.ts'
import { PREFIX as IDENTITY } from '../identity/prefix.ts'
import { PREFIX as IMAGE } from '../image/prefix.ts'
import { PREFIX as PLACEMENT } from '../placement/prefix.ts'
import { requireAllowed } from '../policy.ts'
import { PREFIX as RESERVATION } from '../reservation/prefix.ts'
import { addHealth, addMetrics } from './health.ts'
import { PREFIX } from './prefix.ts'
import { BULK, type Method, type Route, routes } from './routes.ts'

const STATUS: Partial<Record<ProblemKind, number>> = {
  unauthorized: 401,
  forbidden: 403,
  foreign_page: 403,
  too_many_attempts: 429,
  too_many_requests: 429,
  route_not_found: 404,
  metal_not_found: 404,
  hypervisor_not_found: 404,
  lease_not_found: 404,
  method_not_allowed: 405,
  node_refuses: 409,
  node_locked: 409,
  node_protected: 403,
  quota_exceeded: 403,
  quota_too_long: 403,
  quota_not_found: 404,
  metal_exists: 409,
  lease_refuses: 409,
  provider_in_use: 409,
  provider_has_children: 409,
  inventory_in_use: 409,
  consumer_managed: 409,
  too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  internal: 500,
  unavailable: 503,
}

export function operator(context: Context, admission: Admission) {
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.setErrorHandler((error, request, reply) => {
      const found = problemOf(error, request, context)
      const { kind, message } = found
      const status = STATUS[kind] ?? 400
      const retry = retryAfter(found)
      if (retry !== null) void reply.header('retry-after', retry)
      const text = message || 'there is nothing at this path'
      return reply.code(status).send({ error: { kind, message: text, request_id: request.id } })
    })
    app.setNotFoundHandler(() => {
      throw problem('route_not_found', {})
    })
    app.get('/', () => ({
      name: 'holdfast',
      version: VERSION,
      apis: {
        placement: `${PLACEMENT}/`,
        baremetal: `${BAREMETAL}/`,
        compute: COMPUTE,
        image: IMAGE,
        reservation: `${RESERVATION}/`,
        identity: `${IDENTITY}/`,
      },
      ready: '/readyz',
      metrics: '/metrics',
      openapi: `${PREFIX}/openapi`,
    }))
    addHealth(app, context)
    if (context.config.metricsPort === 0) addMetrics(app, context)
    void app.register(below(context, admission), { prefix: PREFIX })
    done()
  }
}

function below(context: Context, admission: Admission) {
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
    app.addHook('preParsing', jsonOnly(context))
    const ask = admission.asking()
    for (const [path, methods] of Object.entries(routes)) {
      const onRequest: Hook = (request, reply, next) => {
        if (methods[request.method as Method]?.action === null) next()
        else ask(request, reply, next)
      }
      app.all(path, { onRequest, bodyLimit: bodyLimitOf(BULK, path) }, async (request, reply) => {
        const route = methods[request.method as Method]
        if (route?.action === null) return send(reply, route, await route.handle(context, request, ANYONE))
        const caller = request.caller!
        if (route?.isForTests && !context.config.testClock) throw problem('route_not_found', {})
        if (!route) {
          void reply.header('allow', Object.keys(methods).join(', '))
          throw problem('method_not_allowed', {})
        }
        // No name holds one, and PostgreSQL would choke on it.
        if (request.url.includes('%00')) throw problem('malformed_request', { reason: 'the URL holds NUL' })
        const { action, status } = route
        if (!route.onFound) requireAllowed(context.policy, action, caller, { project: caller.project })
        const own = audited(context, request, { caller, action, isAccepted: status === 202 })
        return send(reply, route, await route.handle(own, request, caller))
      })
    }
    done()
  }
}

function send(reply: FastifyReply, { status }: Route, body: object) {
  void reply.code(status)
  if (status === 204) return reply.send()
  // Bytes are JSON already.
  return body instanceof Buffer ? reply.header('content-type', 'application/json').send(body) : reply.send(body)
}
