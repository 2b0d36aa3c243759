// Puts a file in the place of another, so that it is still there after a power cut.
import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'

/** What the file system has to do: tests watch it. */
const system = { renameSync, openSync, fsyncSync, closeSync }

/**
 * The new file must have been synced. The folder is, too: until then a power cut can bring the old file back, after a
 * client was answered that it has changed.
 */
export function replaceFile(
  made: string,
  target: string,
  { renameSync, openSync, fsyncSync, closeSync } = system,
): void {
  renameSync(made, target)
  const folder = openSync(dirname(target), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
