// Parses HTTP Basic, which scripts use: name and password in each request.
import { limits } from '../shared/limits.ts'

interface BasicCredentials {
  name: string
  password: string
}

/** The longest user name. */
const NAME_MAX = 255

/** The credentials in the header; null when they are malformed or too long, or it is another scheme. */
export function basicCredentials(header: string): BasicCredentials | null {
  const [, encoded] = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(header) ?? []
  if (encoded === undefined) return null
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon < 0 || colon > NAME_MAX || text.length - colon > limits.passwordBytesMax) return null
  return { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
