// /v3/projects/X/users/Y/roles: gives roles in projects to users, and takes them away.
import { idOf } from '../../identity/ids.ts'
import { type Role, ROLES } from '../../identity/roles.ts'
import { grantRole, revokeRole } from '../../identity/user-edits.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { make, projectAt, userAt, writerOf } from './changes.ts'
import { type Answer, type IdentityRequest, listOf, listShape } from './request.ts'
import { FullRoleShape, shownRole } from './roles.ts'

listGrants.operation = {
  summary: 'List the roles that a user has in a project',
  answers: { 200: listShape('roles', FullRoleShape) },
} satisfies Operation

export function listGrants(request: IdentityRequest): Answer {
  const { user, project } = partiesOf(request)
  const roles = user.assignments.get(project.name) ?? []
  const path = `/projects/${project.id}/users/${user.id}/roles`
  return listOf(
    request,
    'roles',
    path,
    roles.map(role => shownRole(role, request)),
  )
}

checkGrant.operation = {
  summary: 'Say whether a user has a role in a project',
  answers: { 204: null },
} satisfies Operation

export function checkGrant(request: IdentityRequest): Answer {
  const { user, project } = partiesOf(request)
  const role = roleOf(request)
  if (user.assignments.get(project.name)?.includes(role)) return { status: 204 }
  throw problem('identity_not_found', { what: 'role assignment', name: role })
}

putGrant.operation = { summary: 'Give a user a role in a project', answers: { 204: null } } satisfies Operation

export async function putGrant(request: IdentityRequest): Promise<Answer> {
  await change(request, grantRole)
  return { status: 204 }
}

deleteGrant.operation = {
  summary: 'Take a role in a project from a user',
  answers: { 204: null },
} satisfies Operation

export async function deleteGrant(request: IdentityRequest): Promise<Answer> {
  await change(request, revokeRole)
  return { status: 204 }
}

async function change(request: IdentityRequest, edited: typeof grantRole): Promise<void> {
  writerOf(request)
  const { user, project } = partiesOf(request)
  const role = roleOf(request)
  await make(request, {
    edit: edited({ user: user.id, project: project.id, role }),
    about: [
      { kind: 'user', id: user.id, name: user.name },
      { kind: 'project', id: project.id, name: project.name },
    ],
    role,
  })
}

const partiesOf = (request: IdentityRequest) => ({
  user: userAt(request, request.param('user')),
  project: projectAt(request, request.param('id')),
})

function roleOf(request: IdentityRequest): Role {
  const id = request.param('role')
  const found = ROLES.find(role => idOf('role', role) === id)
  if (!found) throw problem('identity_not_found', { what: 'role', name: id })
  return found
}
