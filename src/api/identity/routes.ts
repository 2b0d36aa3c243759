// All of identity's URLs below /v3.
import { deleteOneCredential, listAllCredentials, postCredential, showCredential } from './application-credentials.ts'
import {
  listOwnDomains,
  listOwnProjects,
  listOwnSystems,
  listProjects,
  listProjectsOfUser,
  showCatalog,
  showProject,
} from './projects.ts'
import type { Answer, IdentityRequest } from './request.ts'
import { listDomains, listRoleAssignments, listRoles, showDomain, showRole } from './roles.ts'
import { deleteToken, postToken, showToken } from './tokens.ts'
import { listUsers, showUser } from './users.ts'

export type Handle = (request: IdentityRequest) => Answer | Promise<Answer>
export type Methods = Partial<Record<'GET' | 'POST' | 'DELETE', Handle>>

export const routes: Record<string, Methods> = {
  '/auth/tokens': { GET: showToken, POST: postToken, DELETE: deleteToken },
  '/auth/catalog': { GET: showCatalog },
  '/auth/projects': { GET: listOwnProjects },
  '/auth/domains': { GET: listOwnDomains },
  '/auth/system': { GET: listOwnSystems },
  '/projects': { GET: listProjects },
  '/projects/:id': { GET: showProject },
  '/users': { GET: listUsers },
  '/users/:user': { GET: showUser },
  '/users/:user/projects': { GET: listProjectsOfUser },
  '/users/:user/application_credentials': { GET: listAllCredentials, POST: postCredential },
  '/users/:user/application_credentials/:id': { GET: showCredential, DELETE: deleteOneCredential },
  '/domains': { GET: listDomains },
  '/domains/:id': { GET: showDomain },
  '/roles': { GET: listRoles },
  '/roles/:id': { GET: showRole },
  '/role_assignments': { GET: listRoleAssignments },
}
