// Edits of the users file, each as a change of its document that keeps the comments of others.
import type { Document } from 'yaml'
import { problem } from '../problems/problem.ts'
import { UsageError } from '../shared/usage-error.ts'
import { yaml } from '../shared/yaml.ts'
import { FileDirectory } from './directory.ts'
import { idOf } from './ids.ts'
import type { Role } from './roles.ts'
import type { UsersEdit, UsersFile } from './users-file.ts'

interface NewUser {
  id: string
  name: string
  /** The hash of the password. */
  password: string
  project: string
  roles: readonly Role[]
}

/** Adds a user, and the project if it doesn't exist. */
export function addUserTo(document: Document, { users, projects }: UsersFile, user: NewUser, about?: string): void {
  const { id, name, password, project, roles } = user
  if (Object.hasOwn(users, name)) throw new UsageError(`there is a user ${name} already`)
  if (!Object.hasOwn(projects, project)) {
    const usual = idOf('project', project)
    // One that was called so before keeps that id.
    const isTaken = Object.values(projects).some(other => other?.id === usual)
    const entry = {
      ...(isTaken && { id: idOf('project', `${project} ${id}`) }),
      ...(about !== undefined && { description: about }),
    }
    document.setIn(['projects', project], document.createNode(entry))
  }
  const entry = { id, password, roles: { [project]: roles }, 'default-project': project }
  document.setIn(['users', name], document.createNode(entry))
}

type Kind = 'user' | 'project'

/** The name of whoever has that id now: another change may have come before. */
function nameIn(content: UsersFile, kind: Kind, id: string): string {
  const directory = new FileDirectory(content)
  const found = kind === 'user' ? directory.userWithId(id) : directory.projectWithId(id)
  if (!found) throw problem('identity_not_found', { what: kind, name: id })
  return found.name
}

function requireFree(content: UsersFile, kind: Kind, name: string): void {
  if (!Object.hasOwn(content[`${kind}s`], name)) return
  throw problem('identity_exists', {
    reason: `Conflict occurred attempting to store ${kind} - Duplicate entry found with name ${name} at domain ID default.`,
  })
}

/** An entry may be empty, and then it is no map that could be changed. */
function entryOf(document: Document, path: readonly string[]): void {
  if (!yaml().isMap(document.getIn(path))) document.setIn(path, document.createNode({}))
}

function setOrDelete(document: Document, path: readonly string[], value: unknown): void {
  if (value === undefined) document.deleteIn(path)
  else document.setIn(path, value)
}

/** Renames a key where it stands. */
function rename(document: Document, path: readonly string[], from: string, to: string): void {
  const { isMap, isScalar } = yaml()
  const map = document.getIn(path)
  if (!isMap(map)) return
  const pair = map.items.find(({ key }) => (isScalar(key) ? String(key.value) : String(key)) === from)
  if (pair) pair.key = document.createNode(to)
}

interface ProjectChange {
  name?: string
  description?: string
  enabled?: boolean
}

export const addProject =
  (id: string, { name, description, enabled }: ProjectChange & { name: string }): UsersEdit =>
  (document, content) => {
    requireFree(content, 'project', name)
    const entry = { id, ...(description && { description }), ...(enabled === false && { enabled }) }
    document.setIn(['projects', name], document.createNode(entry))
  }

export const changeProject =
  (id: string, { name, description, enabled }: ProjectChange): UsersEdit =>
  (document, content) => {
    const present = nameIn(content, 'project', id)
    const entry = ['projects', present]
    entryOf(document, entry)
    // An id may come from the name, and must not change with it.
    document.setIn([...entry, 'id'], id)
    if (description !== undefined) setOrDelete(document, [...entry, 'description'], description || undefined)
    if (enabled !== undefined) setOrDelete(document, [...entry, 'enabled'], enabled ? undefined : false)
    if (name === undefined || name === present) return
    requireFree(content, 'project', name)
    rename(document, ['projects'], present, name)
    for (const [user, { 'default-project': byDefault }] of Object.entries(content.users)) {
      rename(document, ['users', user, 'roles'], present, name)
      if (byDefault === present) document.setIn(['users', user, 'default-project'], name)
    }
  }

/** With the roles that users have there. */
export const removeProject =
  (id: string): UsersEdit =>
  (document, content) => {
    const name = nameIn(content, 'project', id)
    for (const user of Object.keys(content.users)) dropRoles(document, content, user, name)
    document.deleteIn(['projects', name])
  }

function dropRoles(document: Document, content: UsersFile, user: string, project: string): void {
  const { roles = {}, 'default-project': byDefault } = content.users[user]!
  if (Object.hasOwn(roles, project)) document.deleteIn(['users', user, 'roles', project])
  if (byDefault === project) document.deleteIn(['users', user, 'default-project'])
}

export interface UserChange {
  name?: string
  /** The hash of the password. */
  password?: string
  enabled?: boolean
  /** The id of a project; null for none. Without a role there it is left out. */
  defaultProject?: string | null
}

export const addUser =
  (id: string, { name, password, enabled }: UserChange & { name: string; password: string }): UsersEdit =>
  (document, content) => {
    requireFree(content, 'user', name)
    const entry = { id, password, ...(enabled === false && { enabled }) }
    document.setIn(['users', name], document.createNode(entry))
  }

export const changeUser =
  (id: string, { name, password, enabled, defaultProject }: UserChange): UsersEdit =>
  (document, content) => {
    const present = nameIn(content, 'user', id)
    const entry = ['users', present]
    document.setIn([...entry, 'id'], id)
    if (password !== undefined) document.setIn([...entry, 'password'], password)
    if (enabled !== undefined) setOrDelete(document, [...entry, 'enabled'], enabled ? undefined : false)
    if (defaultProject !== undefined) {
      const project = defaultProject === null ? null : nameIn(content, 'project', defaultProject)
      const hasRole = project !== null && Object.hasOwn(content.users[present]!.roles ?? {}, project)
      setOrDelete(document, [...entry, 'default-project'], hasRole ? project : undefined)
    }
    if (name === undefined || name === present) return
    requireFree(content, 'user', name)
    rename(document, ['users'], present, name)
  }

/** A new password, if the old one is still what was checked. */
export const replacePassword =
  (id: string, before: string, password: string): UsersEdit =>
  (document, content) => {
    const name = nameIn(content, 'user', id)
    if (content.users[name]!.password !== before) throw problem('not_authenticated', {})
    document.setIn(['users', name, 'password'], password)
  }

export const removeUser =
  (id: string): UsersEdit =>
  (document, content) =>
    void document.deleteIn(['users', nameIn(content, 'user', id)])

interface Grant {
  user: string
  project: string
  role: Role
}

/** Whoever has the role already keeps it. */
export const grantRole =
  (grant: Grant): UsersEdit =>
  (document, content) => {
    const { user, project, roles } = grantIn(content, grant)
    entryOf(document, ['users', user, 'roles'])
    document.setIn(['users', user, 'roles', project], document.createNode([...new Set([...roles, grant.role])]))
  }

export const revokeRole =
  (grant: Grant): UsersEdit =>
  (document, content) => {
    const { user, project, roles } = grantIn(content, grant)
    if (!roles.includes(grant.role)) throw problem('identity_not_found', { what: 'role assignment', name: grant.role })
    const left = roles.filter(role => role !== grant.role)
    if (left.length === 0) dropRoles(document, content, user, project)
    else document.setIn(['users', user, 'roles', project], document.createNode(left))
  }

function grantIn(content: UsersFile, grant: Grant) {
  const user = nameIn(content, 'user', grant.user)
  const project = nameIn(content, 'project', grant.project)
  const { roles: held = {} } = content.users[user]!
  return { user, project, roles: Object.hasOwn(held, project) ? held[project]! : [] }
}
