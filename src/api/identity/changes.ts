// What all changes of users and projects share: they are written into the users file and into the audit.
import { type CredentialChange, changeCredentials } from '../../identity/application-credentials.ts'
import type { Directory, Project, User } from '../../identity/directory.ts'
import { isId } from '../../identity/ids.ts'
import { recordChange, type SeenName } from '../../identity/seen-names.ts'
import { NAME_PATTERN, type UsersEdit } from '../../identity/users-file.ts'
import type { UsersWriter } from '../../identity/users-writer.ts'
import { problem } from '../../problems/problem.ts'
import type { Read, Subject } from '../../store/transaction.ts'
import { narrowWebhooks, type RolesNow } from '../../webhooks/makers.ts'
import { directoryOf, type IdentityRequest, invalid, issuerOf } from './request.ts'

/** Refuses where there is nobody to change. */
export function writerOf(request: IdentityRequest): UsersWriter {
  const { users } = issuerOf(request)
  if (users) return users
  throw problem('identity_refused', {
    reason: "With auth 'none' everyone is known under every name: there are no users and projects to change.",
  })
}

interface Deed {
  edit: UsersEdit
  /** Who is concerned, with the names that they have then. */
  about: readonly Pick<SeenName, 'kind' | 'id' | 'name'>[]
  role?: string
  credentials?: CredentialChange
  /** Refuses it, in the last moment before. */
  check?: () => Read<void>
}

export async function make(request: IdentityRequest, { edit, about, role, credentials, check }: Deed): Promise<void> {
  const { store, names } = request.context
  const now = request.now
  const subjects: Subject[] = about.map(({ kind, id, name }) => ({ kind, id, data: { name } }))
  if (role !== undefined) subjects.push({ kind: 'role', id: role })
  const rows = about.map(one => ({ ...one, seen_at: now }))
  await writerOf(request).change(edit, after =>
    store.write(function* () {
      if (check) yield* check()
      if (credentials) yield* changeCredentials(credentials)
      yield* narrowWebhooks(rolesIn(after), now)
      yield* recordChange(rows, subjects)
    }),
  )
  for (const { kind, id, name } of about) names.learn(kind, { id, name })
}

/** None for a user or a project that isn't there. */
const rolesIn =
  (directory: Directory): RolesNow =>
  (userId, projectId) => {
    const user = directory.userWithId(userId)
    const project = projectId === null ? null : directory.projectWithId(projectId)
    if (!user || (projectId !== null && !project)) return NO_ROLES
    return project ? directory.rolesOn(user, project) : directory.systemRoles(user)
  }
const NO_ROLES: ReadonlySet<string> = new Set()

export function userAt(request: IdentityRequest, id: string): User {
  const found = directoryOf(request).userWithId(id)
  if (!found) throw problem('identity_not_found', { what: 'user', name: id })
  return found
}

export function projectAt(request: IdentityRequest, id: string): Project {
  const found = directoryOf(request).projectWithId(id)
  if (!found) throw problem('identity_not_found', { what: 'project', name: id })
  return found
}

const NAME = new RegExp(NAME_PATTERN, 'u')

/** Nobody can be called as an id is spelled: commands take both. */
export function requireName(name: string): void {
  if (!NAME.test(name) || name.trim() !== name) {
    throw invalid('A name has 1 to 255 characters, no colon, no control characters, and no space at its ends.')
  }
  if (isId(name)) throw invalid('A name can not look like an id: 32 hexadecimal digits.')
}
