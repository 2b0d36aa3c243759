// Where a program is on this machine.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** `path` as in the environment. Null when it is in none of the folders. */
export function programAt(name: string, path: string): string | null {
  const files = path
    .split(delimiter)
    .filter(Boolean)
    .map(folder => join(folder, name))
  return files.find(isProgram) ?? null
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
