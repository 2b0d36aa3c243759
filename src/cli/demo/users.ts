// Adds the demo's people to the users file of a server, and removes them.
import { UsageError } from '../../shared/usage-error.ts'
import { hashPassword } from '../../identity/passwords.ts'
import { addUserTo } from '../../identity/user-edits.ts'
import { editUsersFile, readUsersFile } from '../../identity/users-file.ts'
import { demoUuid } from './marks.ts'
import { PEOPLE } from './people.ts'

/** The id marks the user as the demo's. Ids have no hyphens. */
const idOf = (name: string) => demoUuid('user', name).replaceAll('-', '')
const ABOUT_PROJECT = 'of holdfast demo'

export type Passwords = Readonly<Record<string, string>>

/** Adds the people who are missing, and gives all of them new passwords. `newSecret` returns random bytes. */
export async function addPeople(path: string, newSecret: (bytes: number) => Buffer): Promise<Passwords> {
  // The file must exist: no server would read a new one.
  const { users } = readUsersFile(path)
  for (const { name } of PEOPLE) {
    if (Object.hasOwn(users, name) && users[name]!.id !== idOf(name)) {
      throw new UsageError(`${path} has a user ${name} of its own; demo needs that name`)
    }
  }
  const secrets = PEOPLE.map(({ name }) => [name, newSecret(9).toString('base64url')] as const)
  const hashes = new Map<string, string>()
  for (const [name, secret] of secrets) hashes.set(name, await hashPassword(secret, newSecret(16)))
  for (const { name, project, role } of PEOPLE) {
    const password = hashes.get(name)!
    editUsersFile(path, (document, content) => {
      if (Object.hasOwn(content.users, name)) document.setIn(['users', name, 'password'], password)
      else addUserTo(document, content, { id: idOf(name), name, password, project, roles: [role] }, ABOUT_PROJECT)
    })
  }
  return Object.fromEntries(secrets)
}

/** Removes the demo's people, and their projects unless others use them. Returns the removed names. */
export function removePeople(path: string): string[] {
  const gone: string[] = []
  editUsersFile(path, (document, { users, projects }) => {
    for (const { name } of PEOPLE) {
      if (users[name]?.id !== idOf(name)) continue
      document.deleteIn(['users', name])
      gone.push(name)
    }
    const left = Object.entries(users).filter(([name]) => !gone.includes(name))
    for (const [project, entry] of Object.entries(projects)) {
      const isUsed = left.some(([, { roles = {} }]) => Object.hasOwn(roles, project))
      if (entry?.description === ABOUT_PROJECT && !isUsed) document.deleteIn(['projects', project])
    }
  })
  return gone
}
