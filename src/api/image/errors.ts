// Writes failures of the Image API: an object in an object. python-glanceclient looks for `message` in every member of
// the body, and a bare code or text beside it breaks the client, and Nova with it.
import { STATUS_CODES } from 'node:http'
import type { Problem, ProblemKind } from '../../problems/problem.ts'
import type { Refusal } from '../frame/dialect.ts'
import { named, Text } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

const STATUS: Partial<Record<ProblemKind, number>> = {
  unauthorized: 401,
  foreign_page: 403,
  too_many_attempts: 429,
  too_many_requests: 429,
  images_are_fixed: 403,
  route_not_found: 404,
  image_not_found: 404,
  malformed_request: 400,
  query_duplicate_key: 400,
  too_large: 413,
  internal: 500,
  unavailable: 503,
  unreadable: 409,
}

export const RefusalShape = named('Refusal', {
  error: Type.Object({ code: Type.Integer(), title: Text, message: Text }),
})

export function renderError({ kind, message }: Problem): Refusal {
  const code = STATUS[kind] ?? 500
  const title = STATUS_CODES[code]!
  return { status: code, body: { error: { code, title, message: message || 'The resource could not be found.' } } }
}
