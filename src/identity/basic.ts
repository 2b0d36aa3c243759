// HTTP Basic, for scripts: name and password with each request.
import { limits } from '../shared/limits.ts'

interface BasicCredentials {
  name: string
  password: string
}

/** No user's name is longer. */
const NAME_MAX = 255

/** What the header says, or null when it is none of ours. */
export function basicCredentials(header: string): BasicCredentials | null {
  const [, encoded] = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(header) ?? []
  if (encoded === undefined) return null
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon < 0 || colon > NAME_MAX || text.length - colon > limits.passwordBytesMax) return null
  return { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
