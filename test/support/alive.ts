// Whether a process runs.
import { readFileSync } from 'node:fs'

/** One that has ended, but that nobody has asked about yet, doesn't: some systems take minutes to ask. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
