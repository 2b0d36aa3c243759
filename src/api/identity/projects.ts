// /v3/projects, and the scopes that a user may get a token for.
import type { Project } from '../../identity/directory.ts'
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
import { catalogFor } from './services.ts'
import { CatalogShape } from './tokens.ts'
import { Type } from '../../shared/type.ts'

/** The query parameters of the lists of users and projects. */
export const LIST = parametersOf('name', 'domain_id', 'enabled')
export const ProjectShape = named('Project', {
  id: Text,
  name: Text,
  description: Text,
  enabled: Flag,
  domain_id: Text,
  parent_id: Text,
  is_domain: Flag,
  tags: Type.Array(Text),
  options: Document,
  links: Self,
})
const Several = listShape('projects', ProjectShape)

listProjects.operation = {
  summary: 'List the projects that match',
  query: [LIST],
  answers: { 200: Several },
} satisfies Operation

export function listProjects(request: IdentityRequest): Answer {
  const { caller } = request
  const directory = directoryOf(request)
  // In mode `none` the directory lists no projects, but the caller has one.
  const own = caller.projectName ? directory.project(caller.projectName) : null
  const known = directory.projects
  const every = own && !known.some(({ id }) => id === own.id) ? [...known, own] : known
  const name = request.parameter('name')
  const named = name === null ? null : directory.project(name)
  const wanted = name === null ? every : named ? [named] : []
  const found = wanted.filter(project => isWanted(request, project))
  return list(request, '/projects', found)
}

showProject.operation = {
  summary: 'Show a project',
  answers: { 200: Type.Object({ project: ProjectShape }) },
} satisfies Operation

export function showProject(request: IdentityRequest): Answer {
  const id = request.param('id')
  const own = request.caller.project === id && request.caller.projectName
  const found = own ? directoryOf(request).project(own) : directoryOf(request).projectWithId(id)
  if (!found) throw problem('identity_not_found', { what: 'project', name: id })
  return { status: 200, body: { project: shown(found, request) } }
}

/** The project with that id, as it is now. */
export function showProjectWithId(request: IdentityRequest, id: string): Answer {
  const found = directoryOf(request).projectWithId(id)
  if (!found) throw problem('identity_not_found', { what: 'project', name: id })
  return { status: 200, body: { project: shown(found, request) } }
}

listOwnProjects.operation = {
  summary: 'List the projects that the caller may get a token for',
  answers: { 200: Several },
} satisfies Operation

export function listOwnProjects(request: IdentityRequest): Answer {
  return list(request, '/auth/projects', projectsOf(request, request.caller.userName))
}

listProjectsOfUser.operation = { summary: 'List the projects of a user', answers: { 200: Several } } satisfies Operation

export function listProjectsOfUser(request: IdentityRequest): Answer {
  const { caller } = request
  const directory = directoryOf(request)
  const id = request.param('user')
  const name = caller.user === id ? caller.userName : directory.userWithId(id)?.name
  if (name === undefined) throw problem('identity_not_found', { what: 'user', name: id })
  return list(request, `/users/${id}/projects`, projectsOf(request, name))
}

function projectsOf(request: IdentityRequest, userName: string | undefined): Project[] {
  const { caller } = request
  const directory = directoryOf(request)
  const user = userName === undefined ? null : directory.user(userName)
  const names = new Set(user?.assignments.keys())
  // In mode `none` there are no assignments, but the caller has a project.
  if (caller.projectName && caller.userName === userName) names.add(caller.projectName)
  const projects = [...names].map(name => directory.project(name))
  return projects.filter(project => project !== null && project.isEnabled) as Project[]
}

listOwnSystems.operation = {
  summary: 'Say whether the caller may get a token for the whole system',
  answers: { 200: Type.Object({ system: Type.Array(Type.Object({ all: Flag })), links: Self }) },
} satisfies Operation

export function listOwnSystems(request: IdentityRequest): Answer {
  const { caller } = request
  const directory = directoryOf(request)
  const user = caller.userName === undefined ? null : directory.user(caller.userName)
  const isThere = user !== null && directory.systemRoles(user).size > 0
  return {
    status: 200,
    body: { system: isThere ? [{ all: true }] : [], links: { self: linkTo(request, '/auth/system') } },
  }
}

/** Empty, because nobody has a role in a domain. */
export const listOwnDomains = (request: IdentityRequest): Answer => listOf(request, 'domains', '/auth/domains', [])
listOwnDomains.operation = {
  summary: 'List the domains that the caller may get a token for: none',
  answers: { 200: listShape('domains', DomainShape) },
} satisfies Operation

showCatalog.operation = {
  summary: 'Show where each API is',
  answers: { 200: Type.Object({ catalog: CatalogShape, links: Self }) },
} satisfies Operation

export function showCatalog(request: IdentityRequest): Answer {
  return {
    status: 200,
    body: { catalog: catalogFor(request, request.caller), links: { self: linkTo(request, '/auth/catalog') } },
  }
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
    links: { self: linkTo(request, `/projects/${project.id}`) },
  }
}

/** Whether it matches the filters other than the name. Everything is in one domain. */
export function isWanted(request: IdentityRequest, { isEnabled }: { isEnabled: boolean }): boolean {
  if ((request.parameter('domain_id') ?? DOMAIN.id) !== DOMAIN.id) return false
  const enabled = request.parameter('enabled')
  return enabled === null || /^(false|0)$/i.test(enabled) === !isEnabled
}
