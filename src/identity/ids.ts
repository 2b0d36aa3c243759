// Ids as Keystone's clients know them: 32 hexadecimal digits, made from the name where nobody gave one.
import { createHash } from 'node:crypto'

export const ID_PATTERN = '^[0-9a-f]{32}$'
const ID = new RegExp(ID_PATTERN)

export const isId = (text: string) => ID.test(text)

/** The same name has the same id in every process, today and tomorrow. */
export function idOf(kind: 'user' | 'project' | 'role' | 'service' | 'endpoint', name: string): string {
  return createHash('sha256').update(`${kind}:${name}`).digest('hex').slice(0, 32)
}
