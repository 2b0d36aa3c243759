// Changes the users file for a request: one change at a time, whole or not at all, and in effect here at the answer.
import { setTimeout as sleep } from 'node:timers/promises'
import { problem } from '../problems/problem.ts'
import { Gate } from '../shared/gate.ts'
import { limits } from '../shared/limits.ts'
import { type Directory, FileDirectory } from './directory.ts'
import { editUsersFileAfter, FileIsBusy, type UsersEdit, UsersFileError } from './users-file.ts'

interface UsersWriterOptions {
  path: string
  /** Reads the file again, now. */
  follow: () => void
}

export class UsersWriter {
  readonly #options: UsersWriterOptions
  readonly #gate = new Gate({
    places: 1,
    waitingMax: limits.usersFileWaitingMax,
    refusal: () => problem('unavailable', { reason: 'Too many changes of users wait already.' }),
  })

  constructor(options: UsersWriterOptions) {
    this.#options = options
  }

  /**
   * Makes the change. `record` writes the audit when the change is known to be possible and before it is made: so there
   * is no change without an entry. It is told who there is afterwards. Refuses to leave nobody who could change it back.
   */
  change(edit: UsersEdit, record: (after: Directory) => Promise<void>): Promise<void> {
    const { path, follow } = this.#options
    const attempt = () =>
      editUsersFileAfter(path, edit, async (before, after) => {
        const next = new FileDirectory(after)
        if (hasAdmin(new FileDirectory(before)) && !hasAdmin(next)) {
          throw problem('identity_refused', {
            reason: 'Nobody would be admin any more. Make someone else admin first.',
          })
        }
        await record(next)
      })
    return this.#gate.pass(async () => {
      await patiently(attempt)
      follow()
    })
  }
}

/** Another process may change the file, too. */
async function patiently(attempt: () => Promise<void>): Promise<void> {
  for (let waited = 0; ; waited += limits.usersFileWaitLookMs) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof UsersFileError)) throw error
      if (!(error instanceof FileIsBusy) || waited >= limits.usersFileWaitMs) {
        throw problem('unavailable', { reason: `The users file can't be changed: ${error.message}.` })
      }
      await sleep(limits.usersFileWaitLookMs)
    }
  }
}

const hasAdmin = (directory: FileDirectory): boolean =>
  directory.users.some(user => directory.projects.some(project => directory.rolesOn(user, project).has('admin')))
