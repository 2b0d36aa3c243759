// The file of an embedded database: which one a path means, and who serves it.
import { closeSync, existsSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from './failure.ts'
import { isBusy } from './sqlite-failure.ts'

export const IN_MEMORY = ':memory:'

/** The real path behind symbolic links: all who open the file must agree on its log and its lock. */
export function realFile(path: string): string {
  if (path === IN_MEMORY) return path
  // A new file is created here, as SQLite would: a missing file has no real path.
  makeForOwner(path)
  const real = realpathSync(path)
  const { nlink } = statSync(real)
  if (nlink > 1) {
    throw new StoreUnavailable(
      `the file has ${nlink} names (hard links), and SQLite would keep a log for each: remove the others, or copy the file`,
    )
  }
  if (isMount(real)) {
    throw new StoreUnavailable(
      `${real} is mounted by itself, and SQLite would keep its log and its lock beside the mount: mount its folder instead`,
    )
  }
  return real
}

/**
 * The file that was opened. Its path may come to mean another one, as when a backup is moved there while we serve: then
 * all that we write goes into a file that nobody finds again.
 */
export class OpenedFile {
  readonly #path: string | URL
  readonly #identity: string | null

  constructor(path: string | URL) {
    this.#path = path
    this.#identity = path === IN_MEMORY ? null : identityOf(path)
  }

  /** Throws if the path names another file by now, or none. */
  requireThere(): void {
    if (this.#identity === null || identityOf(this.#path) === this.#identity) return
    throw new StoreUnavailable(
      'the database file was replaced or removed while it was served: nothing is written until it is back; to serve the new one, restart this process',
    )
  }
}

function identityOf(path: string | URL): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.dev} ${found.ino}` : 'none'
}

/** A file may be mounted on another, with a name of its own in each container: nothing else of the two names is the same. */
function isMount(file: string): boolean {
  try {
    // The fifth word of a line is where something is mounted, with octal numbers for spaces.
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
    return mounts.some(line => line.split(' ')[4]?.replaceAll(/\\(\d{3})/g, octal) === file)
  } catch {
    return false
  }
}

const octal = (_: string, digits: string) => String.fromCharCode(parseInt(digits, 8))

/**
 * The database holds keys and passwords of machines, so only its owner may read a new file; SQLite gives its log the
 * same mode. An existing file keeps the mode that its operator gave it; `doctor` warns if that is too wide.
 */
function makeForOwner(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
}

/**
 * Makes this process the only server of a database file. The lock is SQLite's own, on a file beside it, so it ends with
 * the process, however that dies, and tools like fsck can still read the database.
 */
export function lockForServing(path: string): DatabaseSync {
  makeForOwner(`${path}.lock`)
  const lock = new DatabaseSync(`${path}.lock`)
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    throw new StoreUnavailable(`another holdfast is already serving ${path}`, { cause: error })
  }
}
