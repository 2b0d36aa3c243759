// The identity API's front door: route, method, who is calling, permission, then the handler. Nothing said here may be cached.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../process/context.ts'
import { type Admission, type Hook, jsonOnly } from '../../http/admission.ts'
import { audited } from '../../http/audited.ts'
import { problemOf, retryAfter } from '../../http/failures.ts'
import type { Issuer } from '../../identity/identity.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { renderError } from './errors.ts'
import { PREFIX } from './prefix.ts'
import { IdentityRequest } from './request.ts'
import { showVersion, showVersions } from './root.ts'
import { type Methods, type Route, routes } from './routes.ts'

export function identity(context: Context, admission: Admission) {
  const { issuer } = context.identity
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: limits.identityBodyBytesMax }, (_r, body, parsed) =>
      parsed(null, body),
    )
    app.addHook('preParsing', jsonOnly(context))
    app.addHook('onRequest', (request, reply, next) => {
      void reply.header('cache-control', 'no-store').header('vary', 'X-Auth-Token')
      if (request.url.length > limits.urlBytesMax) {
        throw problem('uri_too_long', { reason: `at most ${limits.urlBytesMax} bytes` })
      }
      if (!issuer) throw problem('identity_elsewhere', { reason: elsewhere(context) })
      next()
    })
    app.setErrorHandler((error, request, reply) => refuse(context, error, request, reply))

    const base = (request: FastifyRequest) => `${request.protocol}://${request.host}${PREFIX}`
    app.get('/', async (request, reply) =>
      reply
        .code(300)
        .header('location', `${base(request)}/v3/`)
        .send(showVersions(base(request))),
    )
    for (const path of ['/v3', '/v3/']) app.get(path, async request => showVersion(base(request)))
    const ask = admission.asking(undefined, 'not_authenticated')
    for (const [path, methods] of Object.entries(routes)) {
      const onRequest: Hook = (request, reply, next) => {
        const { action } = routeFor(methods, request, reply)
        // Who asks for a token may come with an old one that has ended.
        if (action === null) next()
        else ask(request, reply, next)
      }
      app.all(`/v3${path}`, { onRequest }, (request, reply) => serve(context, issuer!, methods, request, reply))
    }
    const noRoute = () => {
      throw problem('route_not_found', {})
    }
    app.all('/*', { preParsing: noRoute }, noRoute)
    app.setNotFoundHandler(noRoute)
    done()
  }
}

function elsewhere({ config }: Context): string {
  return config.auth === 'keystone'
    ? `Tokens are handed out by Keystone at ${config.keystoneUrl}.`
    : `With auth '${config.auth}' no tokens are handed out.`
}

function routeFor(methods: Methods, { method, params }: FastifyRequest, reply: FastifyReply): Route {
  const route = methods[(method === 'HEAD' ? 'GET' : method) as keyof Methods]
  if (!route) {
    void reply.header('allow', Object.keys(methods).join(', '))
    throw problem('method_not_allowed', {})
  }
  for (const value of Object.values(params as Record<string, string>)) {
    if (value.includes('\0')) throw problem('route_not_found', {})
  }
  return route
}

async function serve(context: Context, issuer: Issuer, methods: Methods, raw: FastifyRequest, reply: FastifyReply) {
  const route = routeFor(methods, raw, reply)
  const answer = await route.handle(allowed(context, issuer, route, raw))
  void reply.code(answer.status).headers(answer.headers ?? {})
  return answer.body === undefined ? reply.send() : reply.send(answer.body)
}

/** The request, if its caller may make it. */
function allowed(context: Context, issuer: Issuer, { action, about, handle }: Route, raw: FastifyRequest) {
  const { operation } = handle
  if (action === null) return new IdentityRequest(context, issuer, null, operation, raw)
  const caller = raw.caller!
  const request = new IdentityRequest(audited(context, raw, { caller, action }), issuer, caller, operation, raw)
  request.requireAllowed(action, about(request))
  return request
}

function refuse(context: Context, error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const found = problemOf(error, request, context)
  const { status, body } = renderError(found)
  const retry = retryAfter(found)
  if (retry !== null) void reply.header('retry-after', retry)
  return reply.code(status).send(body)
}
