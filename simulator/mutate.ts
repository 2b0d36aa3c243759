// Applies a mutant: the text of its file is changed when it is loaded, in this thread alone. Nothing is written.
import fs from 'node:fs'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../', import.meta.url)

/** A change of one place in the sources. */
export interface Change {
  name: string
  /** From the root of the tree. */
  file: string
  from: string
  to: string
  /** Where the text is; if it isn't said, it is in the file exactly once. */
  start?: number
}

/** The file's text with the change; throws unless the text to be changed is there. */
export function mutated({ name, file, from, to, start }: Change, text: string): string {
  if (start !== undefined && text.startsWith(from, start)) {
    return `${text.slice(0, start)}${to}${text.slice(start + from.length)}`
  }
  const parts = text.split(from)
  if (parts.length !== 2) throw new Error(`mutant ${name}: its text is ${parts.length - 1} times in ${file}, not once`)
  return parts.join(to)
}

/** To be called before anything of src is imported. */
export function applyMutant(mutant: Change): void {
  const url = new URL(mutant.file, ROOT)
  if (mutant.file.endsWith('.sql')) return changeFile(mutant, url)
  registerHooks({
    load(loaded, context, next) {
      const result = next(loaded, context)
      if (loaded !== url.href) return result
      return { ...result, source: mutated(mutant, textOf(result.source)) }
    },
  })
}

const textOf = (source: string | ArrayBuffer | NodeJS.TypedArray | null | undefined): string =>
  typeof source === 'string' ? source : Buffer.from(source as ArrayBuffer).toString()

/** Whether a database that was migrated without the mutant lacks it. */
export const isInSchema = ({ file }: Change): boolean => file.endsWith('.sql')

/** Migrations are read as files. */
function changeFile(mutant: Change, url: URL): void {
  const read = fs.readFileSync
  const changed = (path: fs.PathOrFileDescriptor, options?: Parameters<typeof read>[1]) => {
    const found = read(path, options as never)
    const isIt = path instanceof URL ? path.href === url.href : path === fileURLToPath(url)
    return isIt ? mutated(mutant, String(found)) : found
  }
  fs.readFileSync = changed as typeof read
  syncBuiltinESMExports()
}
