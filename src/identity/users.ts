// Follows the users file of a running server: a changed file is read again; a broken one is only logged.
import type { Logger } from 'pino'
import { watchFiles } from '../shared/watched-files.ts'
import { type Directory, FileDirectory } from './directory.ts'
import { readUsersFile } from './users-file.ts'

export interface Users {
  directory(): Directory
  /** Reads the file now if it has changed. */
  look(): void
  stop(): void
}

export function followUsers(path: string, log: Logger): Users {
  const read = () => new FileDirectory(readUsersFile(path))
  // Watch before the first read: a change in between is read twice instead of missed.
  const watch = watchFiles([path], () => {
    try {
      directory = read()
      log.info({ file: path, users: directory.users.length }, 'the users file was read again')
    } catch (error) {
      log.error(
        { file: path, reason: (error as Error).message },
        'the users file is broken; the users stay as they were',
      )
    }
  })
  let directory: Directory
  try {
    directory = read()
  } catch (error) {
    watch.stop()
    throw error
  }
  return { directory: () => directory, look: () => watch.look(), stop: () => watch.stop() }
}
