// /v3/projects, and what a user may get a token for.
import { catalogAt } from '../../identity/catalog.ts'
import type { Project } from '../../identity/directory.ts'
import { problem } from '../../problem.ts'
import { type Answer, DOMAIN, type IdentityRequest, listOf } from './request.ts'

export function listProjects(request: IdentityRequest): Answer {
  const { directory, caller, query } = request
  // In mode `none` there is no list of projects, but the caller's is there.
  const own = caller.projectName ? directory.project(caller.projectName) : null
  const known = directory.projects
  const every = own && !known.some(({ id }) => id === own.id) ? [...known, own] : known
  const name = query.get('name')
  const named = name === null ? null : directory.project(name)
  const wanted = name === null ? every : named ? [named] : []
  const found = wanted.filter(project => isIn(query, DOMAIN.id) && matches(query, project))
  return list(request, '/projects', found)
}

export function showProject(request: IdentityRequest): Answer {
  const id = request.param('id')
  const own = request.caller.project === id && request.caller.projectName
  const found = own ? request.directory.project(own) : request.directory.projectWithId(id)
  if (!found) throw problem('identity_not_found', { what: 'project', name: id })
  return { status: 200, body: { project: shown(found, request) } }
}

/** Those that the caller may ask for. */
export function listOwnProjects(request: IdentityRequest): Answer {
  return list(request, '/auth/projects', projectsOf(request, request.caller.userName))
}

export function listProjectsOfUser(request: IdentityRequest): Answer {
  const { caller, directory } = request
  const id = request.param('user')
  const name = caller.user === id ? caller.userName : directory.userWithId(id)?.name
  if (name === undefined) throw problem('identity_not_found', { what: 'user', name: id })
  return list(request, `/users/${id}/projects`, projectsOf(request, name))
}

function projectsOf({ directory, caller }: IdentityRequest, userName: string | undefined): Project[] {
  const user = userName === undefined ? null : directory.user(userName)
  const names = new Set(user?.assignments.keys())
  // In mode `none` nobody is assigned to anything, but the caller is somewhere.
  if (caller.projectName && caller.userName === userName) names.add(caller.projectName)
  const projects = [...names].map(name => directory.project(name))
  return projects.filter(project => project !== null && project.isEnabled) as Project[]
}

export function listOwnSystems(request: IdentityRequest): Answer {
  const { directory, caller } = request
  const user = caller.userName === undefined ? null : directory.user(caller.userName)
  const isThere = user !== null && directory.systemRoles(user).size > 0
  return {
    status: 200,
    body: { system: isThere ? [{ all: true }] : [], links: { self: request.link('/auth/system') } },
  }
}

/** Nobody has a role in a domain as such. */
export const listOwnDomains = (request: IdentityRequest): Answer => listOf(request, 'domains', '/auth/domains', [])

export function showCatalog(request: IdentityRequest): Answer {
  return { status: 200, body: { catalog: catalogAt(request.origin), links: { self: request.link('/auth/catalog') } } }
}

function list(request: IdentityRequest, path: string, projects: readonly Project[]): Answer {
  const items = projects.map(project => shown(project, request))
  return listOf(request, 'projects', path, items)
}

function shown(project: Project, request: IdentityRequest): object {
  return {
    id: project.id,
    name: project.name,
    description: project.description,
    enabled: project.isEnabled,
    domain_id: DOMAIN.id,
    parent_id: DOMAIN.id,
    is_domain: false,
    tags: [],
    options: {},
    links: { self: request.link(`/projects/${project.id}`) },
  }
}

/** Does a list of what is all in one domain hold anything for this query? */
export const isIn = (query: URLSearchParams, domain: string) => (query.get('domain_id') ?? domain) === domain

export function matches(query: URLSearchParams, { isEnabled }: { isEnabled: boolean }): boolean {
  const enabled = query.get('enabled')
  return enabled === null || /^(false|0)$/i.test(enabled) === !isEnabled
}
