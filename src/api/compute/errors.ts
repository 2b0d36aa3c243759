// Writes failures in Nova's format: an object named after the status, with code and message.
import type { ComputeProblem, Problem, ProblemKind } from '../../problems/problem.ts'
import { byName, Text } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

const STATUS: Record<ComputeProblem, number> & Partial<Record<ProblemKind, number>> = {
  malformed_request: 400,
  malformed_json: 400,
  invalid_body: 400,
  query_duplicate_key: 400,
  too_large: 413,
  uri_too_long: 414,
  timed_out: 408,
  route_not_found: 404,
  method_not_allowed: 405,
  unauthorized: 401,
  forbidden: 403,
  foreign_page: 403,
  unsupported_media_type: 415,
  too_many_attempts: 429,
  too_many_requests: 429,
  unavailable: 503,
  unreadable: 409,
  internal: 500,

  compute_version_malformed: 400,
  compute_version_unsupported: 406,
  compute_elsewhere: 404,
  compute_invalid: 400,
  compute_not_implemented: 501,
  over_limit: 403,
  quota_exceeded: 403,
  quota_invalid: 400,
  flavor_not_found: 404,
  flavor_unusable: 400,
  flavor_id_taken: 409,
  flavor_name_taken: 409,
  flavor_managed: 409,
  extra_spec_not_found: 404,
  access_exists: 409,
  access_not_found: 404,
  access_to_public: 409,
  access_list_of_public: 404,
  image_not_found: 400,
  images_are_fixed: 403,
  server_not_found: 404,
  server_state_refused: 409,
  server_tag_not_found: 404,
  move_not_found: 404,
  metadata_not_found: 404,
  no_valid_host: 400,
  hypervisor_not_found: 404,
  hypervisors_not_matched: 404,
  target_host_not_found: 400,
  hypervisor_in_use: 400,

  // Refusals by the node of a bare metal server.
  node_refuses: 409,
  node_locked: 409,
  invalid_parameter: 400,
}

const NAMES: Record<number, string> = {
  400: 'badRequest',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'itemNotFound',
  405: 'badMethod',
  406: 'notAcceptable',
  409: 'conflictingRequest',
  413: 'overLimit',
  501: 'notImplemented',
  503: 'serviceUnavailable',
}
const WORDS: Partial<Record<ProblemKind, string>> = { route_not_found: 'The resource could not be found.' }

/** Its one member is named after the status. */
export const RefusalShape = Type.Unsafe<object>({
  title: 'Refusal',
  ...byName(Type.Object({ code: Type.Integer(), message: Text })),
})

export function renderError({ kind, message }: Problem): { status: number; body: object } {
  const status = STATUS[kind] ?? 500
  const name = NAMES[status] ?? (status < 500 ? 'badRequest' : 'computeFault')
  return { status, body: { [name]: { code: status, message: WORDS[kind] ?? message } } }
}
