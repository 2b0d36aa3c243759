// Writes failures in Ironic's format: a status, and a string that holds JSON.
import type { MetalProblem, Problem, ProblemKind } from '../../problems/problem.ts'
import type { Refusal } from '../frame/dialect.ts'
import { named } from '../shapes.ts'
import type { MetalRequest } from './request.ts'
import { RANGE } from './versions.ts'
import { Type } from '../../shared/type.ts'

interface Shape {
  status: number
  /** Upstream's router refuses these, not a handler: the JSON in the string has another form. */
  router?: true
}

const ERRORS: Record<MetalProblem, Shape> & Partial<Record<ProblemKind, Shape>> = {
  malformed_request: { status: 400 },
  malformed_json: { status: 400 },
  invalid_body: { status: 400 },
  invalid_query: { status: 400 },
  query_duplicate_key: { status: 400 },
  not_acceptable: { status: 406, router: true },
  too_large: { status: 413 },
  uri_too_long: { status: 414, router: true },
  timed_out: { status: 408 },
  route_not_found: { status: 404, router: true },
  method_not_allowed: { status: 405, router: true },
  unauthorized: { status: 401 },
  too_many_attempts: { status: 429 },
  too_many_requests: { status: 429 },
  forbidden: { status: 403 },
  foreign_page: { status: 403 },
  unsupported_media_type: { status: 415 },
  unavailable: { status: 503 },
  unreadable: { status: 409 },
  internal: { status: 500 },

  invalid_parameter: { status: 400 },
  invalid_name_in_path: { status: 400, router: true },
  version_malformed: { status: 406, router: true },
  version_unsupported: { status: 406, router: true },
  version_too_old: { status: 406 },
  metal_not_found: { status: 404 },
  node_trait_not_found: { status: 404 },
  bios_setting_not_found: { status: 404 },
  interface_unsupported: { status: 404 },
  metal_exists: { status: 409 },
  metal_in_use: { status: 409 },
  node_locked: { status: 409 },
  node_refuses: { status: 409 },
  node_protected: { status: 403 },
  verb_refused: { status: 400 },
  // Upstream answers 500. Clients repeat 409 and 503 by themselves, which would only keep a broken BMC busy.
  machine_failed: { status: 400 },
  machine_silent: { status: 503 },
  machine_crowded: { status: 503 },
  conductor_silent: { status: 503 },
  boot_iso_unmade: { status: 502 },
  quota_exceeded: { status: 403 },
  quota_too_long: { status: 403 },

  // Refusals of the ledger, where each node is a provider.
  provider_exists: { status: 409 },
  provider_in_use: { status: 409 },
  provider_has_children: { status: 409 },
  inventory_in_use: { status: 409 },
  consumer_managed: { status: 409 },
  claim_exceeds_capacity: { status: 409 },
  claim_on_dedicated_provider: { status: 409 },
  class_managed: { status: 409 },
  trait_unknown: { status: 400 },
}

const TITLES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  414: 'Request-URI Too Long',
}
const ROUTER_WORDS: Partial<Record<ProblemKind, string>> = {
  route_not_found: 'The resource could not be found.',
  method_not_allowed: 'The method is not allowed for this resource.',
}

export const RefusalShape = named('Refusal', {
  error_message: Type.String({ description: 'A string that holds JSON again.', contentMediaType: 'application/json' }),
})

export function renderError({ kind, message }: Problem, { negotiated }: MetalRequest): Refusal {
  const { status, router } = ERRORS[kind] ?? { status: 500 }
  const inside = router
    ? { code: status, title: TITLES[status], description: ROUTER_WORDS[kind] ?? message }
    : { faultcode: status < 500 ? 'Client' : 'Server', faultstring: message, debuginfo: null }
  const headers = kind === 'version_unsupported' ? RANGE : (negotiated?.headers ?? {})
  return { status, body: { error_message: JSON.stringify(inside) }, headers }
}
