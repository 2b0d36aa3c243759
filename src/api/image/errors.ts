// Writes failures in the Image API's format: a code and our message.
import { Type } from 'typebox'
import type { Problem, ProblemKind } from '../../problems/problem.ts'
import type { Refusal } from '../frame/dialect.ts'
import { named, Text } from '../shapes.ts'

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

export const RefusalShape = named('Refusal', { code: Type.Integer(), message: Text })

export function renderError({ kind, message }: Problem): Refusal {
  const code = STATUS[kind] ?? 500
  return { status: code, body: { code, message: message || 'The resource could not be found.' } }
}
