// /flavors/{id}/os-flavor-access, and the actions that change it.
import { findFlavor, grantAccess, lockOwnFlavor, projectsOf, revokeAccess } from '../../compute/flavors.ts'
import { problem } from '../../problems/problem.ts'
import type { Read } from '../../store/transaction.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Text } from '../shapes.ts'
import { closed } from './bodies.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Tenant = Type.Object({ tenant: Type.String({ minLength: 1, maxLength: 255 }) }, closed)
const actionBody = check(
  Type.Union([Type.Object({ addTenantAccess: Tenant }, closed), Type.Object({ removeTenantAccess: Tenant }, closed)]),
)

const Access = Type.Object({ flavor_access: Type.Array(Type.Object({ flavor_id: Text, tenant_id: Text })) })

listFlavorAccess.operation = {
  summary: 'List the projects that may use a private flavor',
  answers: { 200: Access },
} satisfies Operation

export async function listFlavorAccess(request: ComputeRequest): Promise<Answer> {
  const id = request.param('id')
  const body = await request.context.store.read(function* () {
    const { is_public } = yield* findFlavor(id, null)
    if (is_public) throw problem('access_list_of_public', {})
    return yield* shownAccess(id)
  })
  return { status: 200, body }
}

postFlavorAction.operation = {
  summary: 'Let a project use a private flavor, or no longer',
  body: [actionBody],
  answers: { 200: Access },
} satisfies Operation

export async function postFlavorAction(request: ComputeRequest): Promise<Answer> {
  const id = request.param('id')
  const action = request.body(actionBody)
  const change = 'addTenantAccess' in action ? 'add_tenant_access' : 'remove_tenant_access'
  request.requireAllowed(`os_compute_api:os-flavor-access:${change}`)
  const body = await request.context.store.write(function* () {
    yield* lockOwnFlavor(id)
    if ('addTenantAccess' in action) yield* grantAccess(id, action.addTenantAccess.tenant)
    else yield* revokeAccess(id, action.removeTenantAccess.tenant)
    return yield* shownAccess(id)
  })
  return { status: 200, body }
}

function* shownAccess(id: string): Read<object> {
  const projects = yield* projectsOf(id)
  return { flavor_access: projects.map(project => ({ flavor_id: id, tenant_id: project })) }
}
