// Files that may change while we run: looked at now and then, because notifications get lost on network drives.
import { statSync } from 'node:fs'
import { limits } from './limits.ts'

interface WatchedFiles {
  /** Looks now, instead of at the next turn. */
  look(): void
  stop(): void
}

/** Calls when one of the files has become another, or was written to; not for what is there at the start. */
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
      const found = statSync(path, { bigint: true, throwIfNoEntry: false })
      return found ? `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}` : 'absent'
    })
    .join(', ')
}
