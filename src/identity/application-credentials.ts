// Application credentials: a separate secret for a script, with at most the roles of the user who made it.
import type { Selectable } from 'kysely'
import { limits } from '../shared/limits.ts'
import { problem } from '../problems/problem.ts'
import type { Schema } from '../store/schema.ts'
import { command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Write } from '../store/transaction.ts'

export type ApplicationCredential = Selectable<Schema['application_credentials']>

export const credentialWithId = query((db, a: { id: string }) =>
  db.selectFrom('application_credentials').selectAll().where('id', '=', a.id),
)
const credentialNamed = query((db, a: { user: string; name: string }) =>
  db.selectFrom('application_credentials').selectAll().where('user_id', '=', a.user).where('name', '=', a.name),
)
const credentialsOf = query((db, a: { user: string }) =>
  db.selectFrom('application_credentials').selectAll().where('user_id', '=', a.user).orderBy('name'),
)
const add = command((db, a: ApplicationCredential) =>
  db.insertInto('application_credentials').values({
    id: a.id,
    user_id: a.user_id,
    name: a.name,
    user_name: a.user_name,
    project_name: a.project_name,
    description: a.description,
    secret: a.secret,
    roles: a.roles,
    unrestricted: a.unrestricted,
    is_open: a.is_open,
    expires_at: a.expires_at,
    created_at: a.created_at,
  }),
)
const remove = command((db, a: { id: string; user: string }) =>
  db.deleteFrom('application_credentials').where('id', '=', a.id).where('user_id', '=', a.user),
)

const markCredential = (id: string) => mark({ kind: 'application_credential', id })

/** Refuses a name that is taken, and more credentials than the limit. */
export function* requireRoomForCredential(wanted: { user_id: string; name: string }): Read<void> {
  const present = yield* all(credentialsOf({ user: wanted.user_id }))
  if (present.some(({ name }) => name === wanted.name)) {
    throw problem('identity_exists', {
      reason: `Conflict occurred attempting to store application_credential - Duplicate entry found with name ${wanted.name}.`,
    })
  }
  if (present.length >= limits.applicationCredentialsPerUserMax) {
    throw problem('identity_forbidden', { action: 'identity:create_application_credential' })
  }
}

export function* createCredential(credential: ApplicationCredential): Write<void> {
  yield* requireRoomForCredential(credential)
  yield* run(add(credential))
  yield* markCredential(credential.id)
}

export function* listCredentials(user: string): Read<ApplicationCredential[]> {
  return yield* all(credentialsOf({ user }))
}

/** A user's credential, by id or by name; undefined when there is none. */
export function* credentialOf(user: string, given: { id: string } | { name: string }) {
  const found = yield* one('id' in given ? credentialWithId(given) : credentialNamed({ user, name: given.name }))
  return found?.user_id === user ? found : undefined
}

export function* findCredential(user: string, id: string): Read<ApplicationCredential> {
  const found = yield* credentialOf(user, { id })
  if (!found) throw problem('identity_not_found', { what: 'application credential', name: id })
  return found
}

export function* deleteCredential(user: string, id: string): Write<void> {
  if ((yield* run(remove({ id, user }))) === 0) {
    throw problem('identity_not_found', { what: 'application credential', name: id })
  }
  yield* markCredential(id)
}

const renameOwner = command((db, a: { user: string; name: string }) =>
  db.updateTable('application_credentials').set({ user_name: a.name }).where('user_id', '=', a.user),
)
const renameProject = command((db, a: { from: string; to: string }) =>
  db.updateTable('application_credentials').set({ project_name: a.to }).where('project_name', '=', a.from),
)
const removeOfUser = command((db, a: { user: string }) =>
  db.deleteFrom('application_credentials').where('user_id', '=', a.user),
)
const removeOfProject = command((db, a: { project: string }) =>
  db.deleteFrom('application_credentials').where('project_name', '=', a.project),
)

/** What becomes of the credentials of users and projects that are renamed or removed. */
export type CredentialChange =
  | { user: string; name: string }
  | { project: string; name: string }
  | { goneUser: string }
  | { goneProject: string }

export function* changeCredentials(change: CredentialChange): Write<void> {
  if ('user' in change) yield* run(renameOwner(change))
  else if ('project' in change) yield* run(renameProject({ from: change.project, to: change.name }))
  else if ('goneUser' in change) yield* run(removeOfUser({ user: change.goneUser }))
  else yield* run(removeOfProject({ project: change.goneProject }))
}
