// Edits of the users file that several commands share.
import type { Document } from 'yaml'
import { UsageError } from '../shared/usage-error.ts'
import type { Role } from './roles.ts'
import type { UsersFile } from './users-file.ts'

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
    const entry = about === undefined ? {} : { description: about }
    document.setIn(['projects', project], document.createNode(entry))
  }
  const entry = { id, password, roles: { [project]: roles }, 'default-project': project }
  document.setIn(['users', name], document.createNode(entry))
}
