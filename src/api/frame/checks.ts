// The checks that run before a handler. Each dialect lists the checks that it uses, in its own order.
import type { FastifyReply } from 'fastify'
import { type Problem, problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import { acceptsJson } from './accept.ts'
import type { Request } from './request.ts'

/** A check that fits every dialect. */
type AnyCheck = <Word extends string>(request: Request<Word>, reply: FastifyReply) => void

/** Not a check: adds headers to every answer from here on. */
export const says =
  (headers: Readonly<Record<string, string>>): AnyCheck =>
  (_request, reply) =>
    void reply.headers(headers)

/** Adds a header with the request's id. */
export const saysId =
  (header: string): AnyCheck =>
  ({ raw }, reply) =>
    void reply.header(header, raw.id)

export const uriIsShort: AnyCheck = ({ raw }) => {
  if (raw.originalUrl.length <= limits.urlBytesMax) return
  throw problem('uri_too_long', { reason: `at most ${limits.urlBytesMax} bytes` })
}

/** No name holds NUL, and PostgreSQL refuses it. */
export const uriHasNoNul =
  (reason: string): AnyCheck =>
  ({ raw }) => {
    if (raw.url.includes('%00')) throw problem('malformed_request', { reason })
  }

/** Refuses NUL only in the names of the path. */
export const namesHaveNoNul =
  (refusal: () => Problem): AnyCheck =>
  ({ raw }) => {
    for (const name of Object.values(raw.params as Record<string, string>)) if (name.includes('\0')) throw refusal()
  }

/** The router takes `/leases/` for a lease without an id; upstream knows no such route. */
export const namesAreNotEmpty: AnyCheck = request => {
  for (const name in request.raw.params as object) if (request.param(name) === '') throw problem('route_not_found', {})
}

export const jsonIsAccepted: AnyCheck = ({ raw }) => {
  if (!acceptsJson(raw.headers.accept)) throw problem('not_acceptable', {})
}

export const versionIsKnown: AnyCheck = request => {
  request.negotiated = request.dialect.negotiate!(request.raw.headers) ?? null
}

/** The refusal lists the allowed methods. A request that passes has a handler. */
export const methodIsThere: AnyCheck = request => {
  if (!request.route) throw problem('method_not_allowed', {})
  request.isServed = true
}

/** Refuses a path or a method that the client's version doesn't have. */
export const versionHasIt: AnyCheck = request => {
  const { needs, absent = 'route_not_found' } = request.route!
  if (needs !== undefined && !request.has[needs]) throw problem(absent, {})
}

export const callerMay: AnyCheck = request => {
  const { action, onFound, about } = request.route!
  if (action !== null && !onFound) request.requireAllowed(action, about?.(request))
}
