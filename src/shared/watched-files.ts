// Watches files that may change while we run. It polls, because notifications get lost on network drives.
import { statSync } from 'node:fs'
import { limits } from './limits.ts'

interface WatchedFiles {
  /** Checks now instead of at the next tick. */
  look(): void
  stop(): void
}

/** Calls `changed` when a file is replaced or written to; not for what is there at the start. */
export function watchFiles(paths: readonly string[], changed: () => void): WatchedFiles {
  let seen = fingerprint(paths)
  const look = () => {
    const found = fingerprint(paths)
    if (found === seen) return
    seen = found
    changed()
  }
  const timer = setInterval(look, limits.fileLookMs).unref()
  return { look, stop: () => clearInterval(timer) }
}

function fingerprint(paths: readonly string[]): string {
  return paths
    .map(path => {
      try {
        const found = statSync(path, { bigint: true, throwIfNoEntry: false })
        return found ? `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}` : 'absent'
      } catch (error) {
        // A folder that may not be entered, or a drive that fails: whoever reads the file says what is wrong.
        return String((error as NodeJS.ErrnoException).code)
      }
    })
    .join(', ')
}
