// Turns any error into a problem that the client may see, and logs what the client doesn't see.
import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Metrics } from '../measure/metrics.ts'
import { Problem, problem } from '../problems/problem.ts'
import { Unreadable } from '../shared/json.ts'
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
  const damage = damageIn(error)
  if (damage !== null) {
    log.error({ request: request.id, err: error }, 'a request met something in the database that is damaged')
    return problem('unreadable', { reason: damage })
  }
  const known = frameworkProblem(error)
  if (known) return known
  const { id, method, url } = request
  log.error({ request: id, err: error, method, url: loggedUrl(url) }, 'a request failed')
  return problem('internal', {})
}

/** What a row has that nobody can read, found by us or by the database; null for other errors. */
function damageIn(error: unknown): string | null {
  if (error instanceof Unreadable) return error.message
  const { code, message } = error as { code?: string; message?: string }
  if (/malformed JSON|invalid input syntax for type json/.test(message ?? ''))
    return 'a text is not the JSON that it must be'
  // SQLite lets any number into a column.
  return code === 'ERR_OUT_OF_RANGE' ? 'a number is too large' : null
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
