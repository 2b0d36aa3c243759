// All URLs of identity below /v3: the handler and the permission.
import type { Target } from '../../identity/policy.ts'
import type { Route, Routes } from '../frame/dialect.ts'
import { deleteOneCredential, listAllCredentials, postCredential, showCredential } from './application-credentials.ts'
import { checkGrant, deleteGrant, listGrants, putGrant } from './grants.ts'
import type { IdentityAction } from './policy.ts'
import { deleteProject, patchProject, postProject } from './project-changes.ts'
import {
  listOwnDomains,
  listOwnProjects,
  listOwnSystems,
  listProjects,
  listProjectsOfUser,
  showCatalog,
  showProject,
} from './projects.ts'
import type { IdentityRequest } from './request.ts'
import { listDomains, listRoleAssignments, listRoles, showDomain, showRole } from './roles.ts'
import { listEndpoints, listRegions, listServices, showEndpoint, showRegion, showService } from './services.ts'
import { deleteToken, postToken, showToken } from './tokens.ts'
import { deleteUser, patchUser, postPassword, postUser } from './user-changes.ts'
import { listUsers, showUser } from './users.ts'

type Short = IdentityAction extends `identity:${infer Rest}` ? Rest : never

const to = (handle: Route['handle'], action: Short, about?: Route['about']): Route => ({
  handle,
  action: `identity:${action}`,
  ...(about && { about }),
})
const aUser = (request: IdentityRequest): Target => ({ user: request.param('user') })
const aProject = (request: IdentityRequest): Target => ({ project: request.param('id') })
const theUserAskedFor = (request: IdentityRequest): Target => ({ user: request.parameter('user.id') })

export const routes: Routes = {
  '/auth/tokens': {
    GET: to(showToken, 'validate_token'),
    // Open, because a client that asks for a token may send an old one that has expired.
    POST: { handle: postToken, action: null, isOpen: true },
    DELETE: to(deleteToken, 'revoke_token'),
  },
  '/auth/catalog': { GET: to(showCatalog, 'get_auth_catalog') },
  '/auth/projects': { GET: to(listOwnProjects, 'get_auth_projects') },
  '/auth/domains': { GET: to(listOwnDomains, 'get_auth_domains') },
  '/auth/system': { GET: to(listOwnSystems, 'get_auth_system') },
  '/projects': { GET: to(listProjects, 'list_projects'), POST: to(postProject, 'create_project') },
  '/projects/:id': {
    GET: to(showProject, 'get_project', aProject),
    PATCH: to(patchProject, 'update_project'),
    DELETE: to(deleteProject, 'delete_project'),
  },
  '/projects/:id/users/:user/roles': { GET: to(listGrants, 'list_grants', aUser) },
  '/projects/:id/users/:user/roles/:role': {
    GET: to(checkGrant, 'check_grant', aUser),
    PUT: to(putGrant, 'create_grant'),
    DELETE: to(deleteGrant, 'revoke_grant'),
  },
  '/users': { GET: to(listUsers, 'list_users'), POST: to(postUser, 'create_user') },
  '/users/:user': {
    GET: to(showUser, 'get_user', aUser),
    PATCH: to(patchUser, 'update_user'),
    DELETE: to(deleteUser, 'delete_user'),
  },
  '/users/:user/password': { POST: to(postPassword, 'change_password', aUser) },
  '/users/:user/projects': { GET: to(listProjectsOfUser, 'list_user_projects', aUser) },
  '/users/:user/application_credentials': {
    GET: to(listAllCredentials, 'list_application_credentials', aUser),
    POST: to(postCredential, 'create_application_credential', aUser),
  },
  '/users/:user/application_credentials/:id': {
    GET: to(showCredential, 'get_application_credential', aUser),
    DELETE: to(deleteOneCredential, 'delete_application_credential', aUser),
  },
  '/domains': { GET: to(listDomains, 'list_domains') },
  '/domains/:id': { GET: to(showDomain, 'get_domain') },
  '/roles': { GET: to(listRoles, 'list_roles') },
  '/roles/:id': { GET: to(showRole, 'get_role') },
  '/services': { GET: to(listServices, 'list_services') },
  '/services/:id': { GET: to(showService, 'get_service') },
  '/endpoints': { GET: to(listEndpoints, 'list_endpoints') },
  '/endpoints/:id': { GET: to(showEndpoint, 'get_endpoint') },
  '/regions': { GET: to(listRegions, 'list_regions') },
  '/regions/:id': { GET: to(showRegion, 'get_region') },
  '/role_assignments': { GET: to(listRoleAssignments, 'list_role_assignments', theUserAskedFor) },
}
