// Whom a request is for must be said once: proxies, logs and our own links would each take another answer.
import type { IncomingHttpHeaders } from 'node:http'
import { problem } from '../problems/problem.ts'

interface Target {
  /** As it stands in the request line. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
}

/** Refuses two Host headers (RFC 9112, 3.2), and a whole URL as target that names another host than the header. */
export function requireOneHost({ url, headers, rawHeaders }: Target): void {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1) throw problem('malformed_request', { reason: 'A request has one Host header.' })
  if (url.startsWith('/') || url === '*') return
  const host = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]
  if (host === undefined || host.toLowerCase() !== headers.host?.toLowerCase()) {
    throw problem('malformed_request', { reason: 'The target of the request and its Host header name two hosts.' })
  }
}
