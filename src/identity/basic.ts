// HTTP Basic, for scripts: name and password with each request.

export interface BasicCredentials {
  name: string
  password: string
}

/** What the header says, or null when it is none of ours. */
export function basicCredentials(header: string): BasicCredentials | null {
  const [, encoded] = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(header) ?? []
  if (encoded === undefined) return null
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? null : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}
