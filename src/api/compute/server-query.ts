// Parses the query of server lists into a filter.
import type { ServerFilter, TagFilter } from '../../compute/server-list.ts'
import { flagOf } from '../../metal/nodes/attributes.ts'
import { problem } from '../../problems/problem.ts'
import type { Form } from '../operation.ts'
import { from, Text } from '../shapes.ts'
import { PAGE } from './links.ts'
import type { ComputeRequest } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

export const NO_FILTER: ServerFilter = {
  project: null,
  user: null,
  name: null,
  status: null,
  flavor: null,
  image: null,
  host: null,
  uuid: null,
  reservation: null,
  tags: null,
}

const TAG_FILTERS = ['tags', 'tags-any', 'not-tags', 'not-tags-any'] as const

export const SERVER_LIST: Form = {
  schema: Type.Object({
    ...PAGE,
    ...Object.fromEntries(
      [
        'status',
        'name',
        'user_id',
        'flavor',
        'image',
        'host',
        'node',
        'uuid',
        'reservation_id',
        'project_id',
        'tenant_id',
        'all_tenants',
      ].map(name => [name, Type.Optional(Type.String())]),
    ),
    ...Object.fromEntries(TAG_FILTERS.map(name => [name, Type.Optional(from(since('tags'), Text))])),
  }),
}

export function parseServerQuery(request: ComputeRequest): ServerFilter {
  const status = request.parameter('status')
  const name = request.parameter('name')
  return {
    project: projectOf(request),
    user: request.parameter('user_id'),
    name: name === null ? null : likePattern(name),
    status: status === null ? null : statusOf(status, request),
    flavor: request.parameter('flavor'),
    image: request.parameter('image'),
    // Not every caller may know the hosts of servers.
    host: request.may('os_compute_api:os-extended-server-attributes')
      ? (request.parameter('host') ?? request.parameter('node'))
      : null,
    uuid: request.parameter('uuid'),
    reservation: request.parameter('reservation_id'),
    tags: tagsOf(request),
  }
}

/** All that a server can be upstream; here it never is some of them. */
const STATUSES = new Set(
  'ACTIVE BUILD DELETED ERROR HARD_REBOOT MIGRATING PASSWORD PAUSED REBOOT REBUILD RESCUE RESIZE REVERT_RESIZE SHELVED SHELVED_OFFLOADED SHUTOFF SOFT_DELETED SUSPENDED UNKNOWN VERIFY_RESIZE'.split(
    ' ',
  ),
)

function statusOf(given: string, { has }: ComputeRequest): string {
  const status = given.toUpperCase()
  if (has.knownStatus && !STATUSES.has(status)) {
    throw problem('compute_invalid', { reason: `Invalid status value: ${given.slice(0, 100)}` })
  }
  return status
}

/** What is asked of the tags; null for nothing. Older versions ignore it, as any parameter that they don't know. */
function tagsOf(request: ComputeRequest): TagFilter | null {
  const lists = TAG_FILTERS.map(name => request.parameter(name)?.split(',') ?? null)
  if (!request.has.tags || lists.every(list => list === null)) return null
  const [every = null, any = null, notEvery = null, notAny = null] = lists
  return { every, any, notEvery, notAny }
}

/** Callers see the servers of their project. An admin may ask for all projects, or for one of them. */
function projectOf(request: ComputeRequest): string | null {
  const wanted = request.parameter('project_id') ?? request.parameter('tenant_id')
  const everyone = isAllTenants(request.parameter('all_tenants'))
  if (!everyone) return request.project
  request.requireAllowed('os_compute_api:servers:list_all')
  return wanted
}

function isAllTenants(given: string | null): boolean {
  if (given === null) return false
  // `all_tenants` without a value means yes.
  const flag = given === '' ? true : flagOf(given)
  if (flag === null)
    throw problem('compute_invalid', { reason: `Invalid value for all_tenants: ${given.slice(0, 100)}` })
  return flag
}

/**
 * Clients send a regular expression. `^`, `$` and `.*` are supported and the rest is taken literally, because a hostile
 * expression could run almost for ever.
 */
export function likePattern(expression: string): string {
  const [, begin, text, end] = /^(\^?)(.*?)(\$?)$/s.exec(expression.toLowerCase())!
  const parts = text!.split('.*').map(part => part.replace(/[\\%_]/g, '\\$&'))
  return `${begin === '' ? '%' : ''}${parts.join('%')}${end === '' ? '%' : ''}`
}
