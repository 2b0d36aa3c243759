// Ids in Keystone's format: 32 hexadecimal digits, derived from the name if none is given.
import { createHash } from 'node:crypto'

export const ID_PATTERN = '^[0-9a-f]{32}$'
const ID = new RegExp(ID_PATTERN)

export const isId = (text: string) => ID.test(text)

/** A hash, so that the same name has the same id in every process, also after a restart. */
export function idOf(kind: 'user' | 'project' | 'role' | 'service' | 'endpoint', name: string): string {
  return createHash('sha256').update(`${kind}:${name}`).digest('hex').slice(0, 32)
}

/** The user as whom we call a Nova. Names in a users file have no colon, so this one can't be taken there. */
export const SERVICE_USER_NAME = 'holdfast:service'
export const SERVICE_USER_ID = idOf('user', SERVICE_USER_NAME)
