// The bare metal API's front door: route, token, version, method, then the handler.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../process/context.ts'
import type { Caller } from '../../identity/caller.ts'
import { type Admission, bodyLimitOf, type Hook, jsonOnly } from '../../http/admission.ts'
import { audited } from '../../http/audited.ts'
import { problemOf, retryAfter } from '../../http/failures.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { acceptsJson } from '../placement/errors.ts'
import { requireAllowed } from '../policy.ts'
import { renderError } from './errors.ts'
import { PREFIX } from './prefix.ts'
import { type Answer, MetalRequest } from './request.ts'
import { showRoot } from './root.ts'
import { BULK, type Route, routes } from './routes.ts'
import { negotiate, NEWEST, OLDEST, type Version } from './versions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    metalVersion: Version | null
  }
}

export function baremetal(context: Context, admission: Admission) {
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.decorateRequest('metalVersion', null)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
    app.addHook('preParsing', jsonOnly(context))
    app.addHook('onRequest', (request, _reply, next) => {
      if (request.url.length > limits.urlBytesMax) {
        throw problem('uri_too_long', { reason: `at most ${limits.urlBytesMax} bytes` })
      }
      next()
    })
    app.setErrorHandler((error, request, reply) => refuse(context, error, request, reply))

    const root = (request: FastifyRequest) => showRoot(`${request.protocol}://${request.host}${PREFIX}`)
    app.get('/', async (request, reply) => reply.send(root(request)))

    const ask = admission.asking()
    const onRequest: Hook = (request, reply, next) => {
      if (!acceptsJson(request.headers.accept)) throw problem('not_acceptable', {})
      ask(request, reply, next)
    }
    for (const [path, methods] of Object.entries(routes)) {
      const options = { onRequest, bodyLimit: bodyLimitOf(BULK, path) }
      const handler = async (request: FastifyRequest, reply: FastifyReply) => {
        void reply.header('openstack-request-id', request.id)
        request.metalVersion = negotiate(request.headers['x-openstack-ironic-api-version'])
        const route = methods[request.method as keyof typeof methods]
        if (route?.needs && !request.metalVersion.has[route.needs]) throw problem('route_not_found', {})
        if (!route) {
          void reply.header('allow', Object.keys(methods).join(', '))
          throw problem('method_not_allowed', {})
        }
        return serve(context, route, request.caller!, request, reply)
      }
      app.all(`/v1${path}`, options, handler)
      // Clients may end a path with a slash, except where upstream reads it as a node without a name.
      if (path !== '/nodes/detail' && !path.endsWith('/')) app.all(`/v1${path}/`, options, handler)
    }
    const noRoute = () => {
      throw problem('route_not_found', {})
    }
    app.all('/*', { preParsing: noRoute }, noRoute)
    app.setNotFoundHandler(noRoute)
    done()
  }
}

async function serve(context: Context, route: Route, caller: Caller, raw: FastifyRequest, reply: FastifyReply) {
  if (route.action !== null && !route.onFound) requireAllowed(context.policy, route.action, caller)
  for (const value of Object.values(raw.params as Record<string, string>)) {
    if (value.includes('\0')) throw problem('invalid_name_in_path', { what: 'a resource', name: '' })
  }
  const { action, isAccepted } = route
  const own = action === null ? context : audited(context, raw, { caller, action, isAccepted })
  const request = new MetalRequest(own, caller, raw.metalVersion!, { action, operation: route.handle.operation }, raw)
  return send(request, await route.handle(request), raw, reply)
}

function send(request: MetalRequest, answer: Answer, raw: FastifyRequest, reply: FastifyReply) {
  void reply.code(answer.status).headers(versionHeaders(raw.metalVersion))
  if (answer.location !== undefined) void reply.header('location', `${request.base}/v1${answer.location}`)
  if (answer.body === undefined) return reply.send()
  return reply.header('content-type', 'application/json').send(bytesOf(answer.body))
}

function bytesOf(body: object | string): Buffer {
  if (body instanceof Buffer) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

const RANGE = {
  'x-openstack-ironic-api-minimum-version': OLDEST.text,
  'x-openstack-ironic-api-maximum-version': NEWEST.text,
}
const versionHeaders = (version: Version | null) =>
  version ? { ...RANGE, 'x-openstack-ironic-api-version': version.text } : {}

function refuse(context: Context, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const found = problemOf(error, request, context)
  const { status, body } = renderError(found)
  if (found.kind === 'version_unsupported') void reply.headers(RANGE)
  else void reply.headers(versionHeaders(request.metalVersion))
  const retry = retryAfter(found)
  if (retry !== null) void reply.header('retry-after', retry)
  return reply.code(status).header('content-type', 'application/json').send(Buffer.from(body))
}
