// Turns any error into a problem that the client may see, and logs what the client doesn't see.
import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Metrics } from '../measure/metrics.ts'
import { Problem, problem } from '../problems/problem.ts'
import { StoreConflict, StoreUnavailable } from '../store/failure.ts'
import { loggedUrl } from './logged-url.ts'

export function problemOf(
  error: unknown,
  request: FastifyRequest,
  { log, metrics }: { log: Logger; metrics: Metrics },
): Problem {
  const found = told(error, request, log)
  metrics.problem(found.kind)
  return found
}

function told(error: unknown, request: FastifyRequest, log: Logger): Problem {
  if (error instanceof Problem) return error
  if (error instanceof StoreUnavailable || error instanceof StoreConflict) {
    log.warn({ request: request.id, err: error }, 'the store could not serve a request')
    return problem('unavailable', { reason: error.message })
  }
  const known = frameworkProblem(error)
  if (known) return known
  const { id, method, url } = request
  log.error({ request: id, err: error, method, url: loggedUrl(url) }, 'a request failed')
  return problem('internal', {})
}

/** Refusals by fastify itself. */
function frameworkProblem(error: unknown): Problem | null {
  const { code, statusCode, message } = error as { code?: string; statusCode?: number; message?: string }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return problem('too_large', { reason: 'the body is too large' })
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return problem('malformed_request', { reason: message ?? 'the request is malformed' })
  }
  return null
}

/** The value of Retry-After, in seconds; null when a retry is of no use. */
export function retryAfter({ kind, facts }: Problem): string | null {
  if (kind === 'unavailable') return '1'
  return 'retrySeconds' in facts ? String(facts.retrySeconds) : null
}
