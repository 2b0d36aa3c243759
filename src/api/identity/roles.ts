// /v3/roles and /v3/domains, which never change, and /v3/role_assignments: who has which role where.
import { idOf } from '../../identity/ids.ts'
import { type Role, ROLES, withImplied } from '../../identity/roles.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { Document, Flag, named, Text } from '../shapes.ts'
import {
  type Answer,
  directoryOf,
  DOMAIN,
  DomainShape,
  type IdentityRequest,
  linkTo,
  listOf,
  listShape,
  parametersOf,
  Self,
} from './request.ts'
import { Type } from '../../shared/type.ts'

const NAMED = parametersOf('name')
export const FullRoleShape = named('Role', {
  id: Text,
  name: Text,
  domain_id: Type.Null(),
  description: Type.Null(),
  options: Document,
  links: Self,
})
// Names are shown only with ?include_names.
const Named = Type.Object({ id: Text, name: Type.Optional(Text), domain: Type.Optional(DomainShape) })
const Assignment = named('RoleAssignment', {
  role: Type.Object({ id: Text, name: Type.Optional(Text) }),
  user: Named,
  scope: Type.Object({ project: Named }),
  links: Type.Object({ assignment: Text }),
})
const Domain = named('DomainInFull', {
  id: Text,
  name: Text,
  description: Text,
  enabled: Flag,
  tags: Type.Array(Text),
  options: Document,
  links: Self,
})

listRoles.operation = {
  summary: 'List the roles',
  query: [NAMED],
  answers: { 200: listShape('roles', FullRoleShape) },
} satisfies Operation

export function listRoles(request: IdentityRequest): Answer {
  const name = request.parameter('name')
  const found = ROLES.filter(role => name === null || role === name)
  const items = found.map(role => shownRole(role, request))
  return listOf(request, 'roles', '/roles', items)
}

showRole.operation = {
  summary: 'Show a role',
  answers: { 200: Type.Object({ role: FullRoleShape }) },
} satisfies Operation

export function showRole(request: IdentityRequest): Answer {
  const id = request.param('id')
  const found = ROLES.find(role => idOf('role', role) === id)
  if (!found) throw problem('identity_not_found', { what: 'role', name: id })
  return { status: 200, body: { role: shownRole(found, request) } }
}

export function shownRole(name: Role, request: IdentityRequest): object {
  const id = idOf('role', name)
  return { id, name, domain_id: null, description: null, options: {}, links: { self: linkTo(request, `/roles/${id}`) } }
}

listRoleAssignments.operation = {
  summary: 'List who has which role where',
  query: [parametersOf('user.id', 'scope.project.id', 'role.id', 'include_names', 'effective')],
  answers: { 200: listShape('role_assignments', Assignment) },
} satisfies Operation

export function listRoleAssignments(request: IdentityRequest): Answer {
  const directory = directoryOf(request)
  const hasNames = !/^(false|0)$/i.test(request.parameter('include_names') ?? 'false')
  const isWanted = (parameter: string, id: string) => (request.parameter(parameter) ?? id) === id
  const items: object[] = []
  for (const user of directory.users) {
    for (const [name, given] of user.assignments) {
      const project = directory.project(name)!
      for (const role of request.parameter('effective') !== null ? withImplied(given) : given) {
        const roleId = idOf('role', role)
        const isMeant =
          isWanted('user.id', user.id) && isWanted('scope.project.id', project.id) && isWanted('role.id', roleId)
        if (!isMeant) continue
        const named = (id: string, name: string) => (hasNames ? { id, name, domain: DOMAIN } : { id })
        items.push({
          role: hasNames ? { id: roleId, name: role } : { id: roleId },
          user: named(user.id, user.name),
          scope: { project: named(project.id, project.name) },
          links: { assignment: linkTo(request, `/projects/${project.id}/users/${user.id}/roles/${roleId}`) },
        })
      }
    }
  }
  return listOf(request, 'role_assignments', '/role_assignments', items)
}

const shownDomain = (request: IdentityRequest) => ({
  ...DOMAIN,
  description: 'The only one.',
  enabled: true,
  tags: [],
  options: {},
  links: { self: linkTo(request, `/domains/${DOMAIN.id}`) },
})

listDomains.operation = {
  summary: 'List the domains: there is one',
  query: [NAMED],
  answers: { 200: listShape('domains', Domain) },
} satisfies Operation

export function listDomains(request: IdentityRequest): Answer {
  const isMeant = (request.parameter('name') ?? DOMAIN.name) === DOMAIN.name
  return listOf(request, 'domains', '/domains', isMeant ? [shownDomain(request)] : [])
}

showDomain.operation = {
  summary: 'Show the domain',
  answers: { 200: Type.Object({ domain: Domain }) },
} satisfies Operation

export function showDomain(request: IdentityRequest): Answer {
  const id = request.param('id')
  if (id !== DOMAIN.id) throw problem('identity_not_found', { what: 'domain', name: id })
  return { status: 200, body: { domain: shownDomain(request) } }
}
