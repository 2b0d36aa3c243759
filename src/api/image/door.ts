// As much of the Image API as it takes to make a server: one image, that can be listed and shown.
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../process/context.ts'
import type { Admission } from '../../http/admission.ts'
import { problemOf, retryAfter } from '../../http/failures.ts'
import { problem, type ProblemKind } from '../../problems/problem.ts'
import { showVersions } from './images.ts'
import { PREFIX } from './prefix.ts'
import { routes } from './routes.ts'

const STATUS: Partial<Record<ProblemKind, number>> = {
  unauthorized: 401,
  foreign_page: 403,
  too_many_attempts: 429,
  too_many_requests: 429,
  route_not_found: 404,
  image_not_found: 404,
  malformed_request: 400,
  query_duplicate_key: 400,
  too_large: 413,
  internal: 500,
  unavailable: 503,
}

export function image(context: Context, admission: Admission) {
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.setErrorHandler((error, request, reply) => {
      const found = problemOf(error, request, context)
      const { kind, message } = found
      const code = STATUS[kind] ?? 500
      const retry = retryAfter(found)
      if (retry !== null) void reply.header('retry-after', retry)
      return reply.code(code).send({ code, message: message || 'The resource could not be found.' })
    })
    app.setNotFoundHandler(() => {
      throw problem('route_not_found', {})
    })
    app.get('/', (request, reply) =>
      reply.code(300).send(showVersions(`${request.protocol}://${request.host}${PREFIX}`)),
    )
    for (const [path, { GET }] of Object.entries(routes)) {
      app.get(path, { onRequest: admission.asking() }, request => GET.handle(request))
    }
    done()
  }
}
