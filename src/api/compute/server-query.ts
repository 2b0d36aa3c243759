// The query of a list of servers, and the filter that it means.
import { Type } from 'typebox'
import type { ServerFilter } from '../../compute/server-list.ts'
import { flagOf } from '../../metal/nodes/attributes.ts'
import { problem } from '../../problems/problem.ts'
import type { Form } from '../operation.ts'
import { PAGE } from './links.ts'
import type { ComputeRequest } from './request.ts'

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
}

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
  }),
}

export function parseServerQuery(request: ComputeRequest): ServerFilter {
  const status = request.parameter('status')
  const name = request.parameter('name')
  return {
    project: projectOf(request),
    user: request.parameter('user_id'),
    name: name === null ? null : likePattern(name),
    status: status === null ? null : status.toUpperCase(),
    flavor: request.parameter('flavor'),
    image: request.parameter('image'),
    // Where servers are is not for everyone to know.
    host: request.may('os_compute_api:os-extended-server-attributes')
      ? (request.parameter('host') ?? request.parameter('node'))
      : null,
    uuid: request.parameter('uuid'),
    reservation: request.parameter('reservation_id'),
  }
}

/** Everyone sees their own; an admin may ask for all projects, or for one of them. */
function projectOf(request: ComputeRequest): string | null {
  const wanted = request.parameter('project_id') ?? request.parameter('tenant_id')
  const everyone = isAllTenants(request.parameter('all_tenants'))
  if (!everyone) return request.project
  request.requireAllowed('os_compute_api:servers:list_all')
  return wanted
}

function isAllTenants(given: string | null): boolean {
  if (given === null) return false
  // The word alone means yes.
  const flag = given === '' ? true : flagOf(given)
  if (flag === null)
    throw problem('compute_invalid', { reason: `Invalid value for all_tenants: ${given.slice(0, 100)}` })
  return flag
}

/**
 * Clients send a regular expression. Of those, `^`, `$` and `.*` are understood and the rest is taken literally: an expression that
 * someone else wrote can take as long as it likes.
 */
export function likePattern(expression: string): string {
  const [, begin, text, end] = /^(\^?)(.*?)(\$?)$/s.exec(expression.toLowerCase())!
  const parts = text!.split('.*').map(part => part.replace(/[\\%_]/g, '\\$&'))
  return `${begin === '' ? '%' : ''}${parts.join('%')}${end === '' ? '%' : ''}`
}
