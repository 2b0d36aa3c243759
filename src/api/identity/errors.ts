// Writes failures in Keystone's format: a status, its title, and our message.
import type { IdentityProblem, Problem, ProblemKind } from '../../problems/problem.ts'
import { named, Text } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

const STATUS: Record<IdentityProblem, number> & Partial<Record<ProblemKind, number>> = {
  malformed_request: 400,
  malformed_json: 400,
  invalid_body: 400,
  query_duplicate_key: 400,
  too_large: 413,
  uri_too_long: 414,
  timed_out: 408,
  route_not_found: 404,
  method_not_allowed: 405,
  too_many_attempts: 429,
  too_many_requests: 429,
  foreign_page: 403,
  unsupported_media_type: 415,
  unavailable: 503,
  unreadable: 409,
  internal: 500,

  not_authenticated: 401,
  identity_invalid: 400,
  identity_forbidden: 403,
  identity_not_found: 404,
  identity_exists: 409,
  identity_refused: 409,
  identity_elsewhere: 404,
}

const TITLES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Request Entity Too Large',
  414: 'Request-URI Too Long',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

export const RefusalShape = named('Refusal', {
  error: Type.Object({ code: Type.Integer(), title: Text, message: Text }),
})

export function renderError({ kind, message }: Problem): { status: number; body: object } {
  const status = STATUS[kind] ?? 500
  const text = message || 'The resource could not be found.'
  return { status, body: { error: { code: status, title: TITLES[status], message: text } } }
}
