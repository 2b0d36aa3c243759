// Writes failures for operators: the kind of problem and our message.
import type { Problem, ProblemKind } from '../../problems/problem.ts'
import type { Refusal } from '../frame/dialect.ts'
import { byName, named, Text } from '../shapes.ts'
import type { OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const STATUS: Partial<Record<ProblemKind, number>> = {
  unauthorized: 401,
  forbidden: 403,
  foreign_page: 403,
  too_many_attempts: 429,
  too_many_requests: 429,
  route_not_found: 404,
  metal_not_found: 404,
  bios_setting_not_found: 404,
  interface_unsupported: 404,
  hypervisor_not_found: 404,
  hypervisor_not_in_nova: 404,
  hypervisor_without_provider: 404,
  lease_not_found: 404,
  method_not_allowed: 405,
  node_refuses: 409,
  node_locked: 409,
  node_protected: 403,
  quota_exceeded: 403,
  quota_too_long: 403,
  quota_not_found: 404,
  calendar_not_found: 404,
  calendar_limit: 403,
  webhook_not_found: 404,
  delivery_not_found: 404,
  webhook_too_many: 409,
  webhook_tests_too_many: 429,
  metal_exists: 409,
  lease_refuses: 409,
  lease_exists: 409,
  reservation_exists: 409,
  lease_does_not_fit: 409,
  host_unnamed: 403,
  host_exists: 409,
  property_not_found: 404,
  metal_in_use: 409,
  host_in_use: 409,
  provider_exists: 409,
  class_in_use: 409,
  class_managed: 409,
  claim_exceeds_capacity: 409,
  claim_on_dedicated_provider: 409,
  node_trait_not_found: 404,
  host_not_found: 404,
  provider_in_use: 409,
  provider_has_children: 409,
  inventory_in_use: 409,
  consumer_managed: 409,
  events_gone: 410,
  events_ahead: 410,
  too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  internal: 500,
  boot_iso_unmade: 502,
  unavailable: 503,
  unreadable: 409,
  machine_silent: 503,
  machine_crowded: 503,
  conductor_silent: 503,
  nova_away: 503,
}

export const RefusalShape = named('Refusal', {
  error: Type.Object({ kind: Text, message: Text, request_id: Text, details: Type.Optional(byName(Text)) }),
})

export function renderError({ kind, message, details }: Problem, { id }: OperatorRequest): Refusal {
  const text = message || 'there is nothing at this path'
  // Those of other rooms are for the APIs of these rooms.
  const more = kind === 'events_gone' || kind === 'events_ahead' ? { details } : {}
  return { status: STATUS[kind] ?? 400, body: { error: { kind, message: text, request_id: id, ...more } } }
}
