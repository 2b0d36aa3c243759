// Writes failures in Blazar's format: a status, and one of three forms around the message.
import type { Refusal } from '../../problems/leases.ts'
import type { LeaseProblem, Problem, ProblemKind } from '../../problems/problem.ts'
import { named, Text } from '../shapes.ts'
import { REFUSAL_MEMBERS, shownRefusal } from './refusals.ts'
import type { ReservationRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const STATUS: Record<LeaseProblem, number> & Partial<Record<ProblemKind, number>> = {
  malformed_request: 400,
  malformed_json: 400,
  invalid_body: 400,
  invalid_query: 400,
  query_duplicate_key: 400,
  unauthorized: 401,
  forbidden: 403,
  foreign_page: 403,
  route_not_found: 404,
  method_not_allowed: 405,
  version_not_acceptable: 406,
  timed_out: 408,
  too_large: 413,
  too_many_attempts: 429,
  too_many_requests: 429,
  uri_too_long: 414,
  unavailable: 503,
  unreadable: 409,
  internal: 500,

  lease_invalid: 400,
  lease_not_found: 404,
  lease_exists: 409,
  reservation_exists: 409,
  reservation_not_found: 400,
  lease_not_allowed: 400,
  lease_does_not_fit: 409,
  lease_refuses: 409,
  host_not_found: 404,
  hypervisor_not_found: 404,
  host_unnamed: 403,
  host_exists: 409,
  host_in_use: 409,
  host_invalid: 400,
  hypervisor_not_in_nova: 404,
  hypervisor_without_provider: 404,
  nova_away: 503,
  property_not_found: 404,

  quota_exceeded: 403,
  quota_too_long: 403,

  // Refusals of the ledger about hosts and reservations.
  provider_not_found: 404,
  provider_exists: 409,
  provider_in_use: 409,
  provider_has_children: 409,
  inventory_in_use: 409,
  class_in_use: 409,
}

const WORDS: Partial<Record<ProblemKind, string>> = {
  route_not_found: 'The requested URL was not found on the server.',
  unauthorized: 'The request you have made requires authentication.',
  internal: 'Internal Server Error',
}

const Code = Type.Integer()
const Details = named('LeaseRefusal', REFUSAL_MEMBERS)
export const RefusalShape = Type.Union(
  [
    named('HandlerRefusal', {
      error_code: Code,
      error_message: Text,
      error_name: Type.Union([Code, Text]),
      details: Type.Optional(Details),
    }),
    named('RouterRefusal', { error: Code, error_message: Text }),
    named('LoginRefusal', { error: Type.Object({ code: Code, title: Text, message: Text }) }),
  ],
  { title: 'Refusal' },
)

/** A request that is refused before it reaches a handler gets another form. */
export function renderError(
  { kind, message, details }: Problem,
  { isServed }: ReservationRequest,
): { status: number; body: object } {
  const status = STATUS[kind] ?? 500
  const text = WORDS[kind] ?? message
  if (status === 401) return { status, body: { error: { code: 401, title: 'Unauthorized', message: text } } }
  if (!isServed) return { status, body: { error: status, error_message: text } }
  const name = status === 500 ? 'INTERNAL_SERVER_ERROR' : status
  const body = { error_code: status, error_message: text, error_name: name }
  return { status, body: kind === 'lease_does_not_fit' ? { ...body, details: shownRefusal(details as Refusal) } : body }
}
