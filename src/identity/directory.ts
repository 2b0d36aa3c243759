// The directory: users, projects, and the roles of users in projects.
import { createHash } from 'node:crypto'
import { idOf, isId } from './ids.ts'
import { dearest } from './passwords.ts'
import { type Role, withImplied } from './roles.ts'
import type { UserEntry, UsersFile } from './users-file.ts'

export interface User {
  readonly id: string
  readonly name: string
  readonly isEnabled: boolean
  /** The hash of the password; with null no password is accepted. */
  readonly password: string | null
  /** Changes with the password and when the user is signed out. Tokens with an older stamp are invalid. */
  readonly stamp: string
  /** The name of the project for logins that name none. */
  readonly defaultProject: string | null
  /** The assigned roles by project name, without implied roles. */
  readonly assignments: ReadonlyMap<string, readonly Role[]>
}

export interface Project {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly isEnabled: boolean
}

export interface Directory {
  readonly users: readonly User[]
  readonly projects: readonly Project[]
  /** What the dearest hash of a password costs: each check of one costs as much. */
  readonly dearest: number
  user(name: string): User | null
  userWithId(id: string): User | null
  project(name: string): Project | null
  projectWithId(id: string): Project | null
  /** All roles of a user in a project, with implied ones; empty when the user has no access. */
  rolesOn(user: User, project: Project): ReadonlySet<Role>
  /** All roles of a user for the whole system: those of an admin, if the user is admin in any project. */
  systemRoles(user: User): ReadonlySet<Role>
}

const NO_ROLES: ReadonlySet<Role> = new Set()
const ADMIN = withImplied(['admin'])
const EVERY_ROLE = withImplied(['admin', 'service'])

/** The users and projects of the users file. */
export class FileDirectory implements Directory {
  readonly users: readonly User[]
  readonly projects: readonly Project[]
  readonly dearest: number
  readonly #usersByName: ReadonlyMap<string, User>
  readonly #usersById: ReadonlyMap<string, User>
  readonly #projectsByName: ReadonlyMap<string, Project>
  readonly #projectsById: ReadonlyMap<string, Project>

  constructor(file: UsersFile) {
    this.projects = Object.entries(file.projects).map(([name, entry]) => ({
      id: entry?.id ?? idOf('project', name),
      name,
      description: entry?.description ?? '',
      isEnabled: entry?.enabled ?? true,
    }))
    this.users = Object.entries(file.users).map(([name, entry]) => ({
      id: entry.id ?? idOf('user', name),
      name,
      isEnabled: entry.enabled ?? true,
      password: entry.password,
      stamp: stampOf(entry),
      defaultProject: entry['default-project'] ?? onlyOne(Object.keys(entry.roles ?? {})),
      assignments: new Map(Object.entries(entry.roles ?? {})),
    }))
    this.dearest = dearest(Object.values(file.users).map(({ password }) => password))
    this.#usersByName = new Map(this.users.map(user => [user.name, user]))
    this.#usersById = new Map(this.users.map(user => [user.id, user]))
    this.#projectsByName = new Map(this.projects.map(project => [project.name, project]))
    this.#projectsById = new Map(this.projects.map(project => [project.id, project]))
  }

  user = (name: string) => this.#usersByName.get(name) ?? null
  userWithId = (id: string) => this.#usersById.get(id) ?? null
  project = (name: string) => this.#projectsByName.get(name) ?? null
  projectWithId = (id: string) => this.#projectsById.get(id) ?? null

  rolesOn(user: User, project: Project): ReadonlySet<Role> {
    if (!user.isEnabled || !project.isEnabled) return NO_ROLES
    return withImplied(user.assignments.get(project.name) ?? [])
  }

  systemRoles(user: User): ReadonlySet<Role> {
    if (!user.isEnabled) return NO_ROLES
    return user.assignments.values().some(roles => roles.includes('admin')) ? ADMIN : NO_ROLES
  }
}

function stampOf({ password, 'signed-out': signedOut = '' }: UserEntry): string {
  return createHash('sha256').update(password).update(signedOut).digest('base64url').slice(0, 16)
}

const onlyOne = (names: string[]): string | null => (names.length === 1 ? names[0]! : null)

/** For mode `none`: every name exists and has every role in every project. The default project has the user's name. */
export const openDirectory: Directory = {
  users: [],
  projects: [],
  dearest: dearest([]),
  user: name => ({
    id: isId(name) ? name : idOf('user', name),
    name,
    isEnabled: true,
    password: null,
    stamp: '',
    defaultProject: name,
    assignments: new Map(),
  }),
  userWithId: id => openDirectory.user(id),
  project: name => ({ id: isId(name) ? name : idOf('project', name), name, description: '', isEnabled: true }),
  projectWithId: id => openDirectory.project(id),
  rolesOn: () => EVERY_ROLE,
  systemRoles: () => EVERY_ROLE,
}
