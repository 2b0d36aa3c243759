// /v3/roles, /v3/role_assignments and /v3/domains: what never changes, and who has which role where.
import { idOf } from '../../identity/ids.ts'
import { type Role, ROLES, withImplied } from '../../identity/roles.ts'
import { problem } from '../../problem.ts'
import { type Answer, DOMAIN, type IdentityRequest, listOf } from './request.ts'

export function listRoles(request: IdentityRequest): Answer {
  const name = request.query.get('name')
  const found = ROLES.filter(role => name === null || role === name)
  const items = found.map(role => shownRole(role, request))
  return listOf(request, 'roles', '/roles', items)
}

export function showRole(request: IdentityRequest): Answer {
  const id = request.param('id')
  const found = ROLES.find(role => idOf('role', role) === id)
  if (!found) throw problem('identity_not_found', { what: 'role', name: id })
  return { status: 200, body: { role: shownRole(found, request) } }
}

function shownRole(name: Role, request: IdentityRequest): object {
  const id = idOf('role', name)
  return { id, name, domain_id: null, description: null, options: {}, links: { self: request.link(`/roles/${id}`) } }
}

export function listRoleAssignments(request: IdentityRequest): Answer {
  const { directory, query } = request
  const hasNames = query.has('include_names') && !/^(false|0)$/i.test(query.get('include_names')!)
  const isWanted = (parameter: string, id: string) => (query.get(parameter) ?? id) === id
  const items: object[] = []
  for (const user of directory.users) {
    for (const [name, given] of user.assignments) {
      const project = directory.project(name)!
      for (const role of query.has('effective') ? withImplied(given) : given) {
        const roleId = idOf('role', role)
        const isMeant =
          isWanted('user.id', user.id) && isWanted('scope.project.id', project.id) && isWanted('role.id', roleId)
        if (!isMeant) continue
        const named = (id: string, name: string) => (hasNames ? { id, name, domain: DOMAIN } : { id })
        items.push({
          role: hasNames ? { id: roleId, name: role } : { id: roleId },
          user: named(user.id, user.name),
          scope: { project: named(project.id, project.name) },
          links: { assignment: request.link(`/projects/${project.id}/users/${user.id}/roles/${roleId}`) },
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
  links: { self: request.link(`/domains/${DOMAIN.id}`) },
})

export function listDomains(request: IdentityRequest): Answer {
  const isMeant = (request.query.get('name') ?? DOMAIN.name) === DOMAIN.name
  return listOf(request, 'domains', '/domains', isMeant ? [shownDomain(request)] : [])
}

export function showDomain(request: IdentityRequest): Answer {
  const id = request.param('id')
  if (id !== DOMAIN.id) throw problem('identity_not_found', { what: 'domain', name: id })
  return { status: 200, body: { domain: shownDomain(request) } }
}
