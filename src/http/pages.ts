// Without authentication (none, noauth2) any web page could call us through a browser on this machine. So we refuse
// pages of other sites (CSRF), and foreign host names that point to us (DNS rebinding).
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '../identity/networks.ts'
import { type AuthMode, isOpen } from '../identity/settings.ts'
import { problem } from '../problems/problem.ts'

export interface PageSettings {
  readonly auth: AuthMode
  readonly host: string
  readonly hostNames: string
  /** How BMCs call this server. */
  readonly mediaUrl: string | null
  readonly corsOrigin: string | null
}

interface Asked {
  method: string
  url: string
  headers: IncomingHttpHeaders
}

/**
 * Version documents, health and the dashboard, which others may link to: open to everyone, and without CORS headers no
 * browser shows them to a page.
 */
const FOR_ALL = /^\/(ui\/|\w*\/?(\?|$))/
const READING = new Set(['GET', 'HEAD'])

/** The last host that was found to be ours: almost all requests name the same one. */
const lastHost = new WeakMap<PageSettings, string>()

/** Refuses requests of foreign pages. */
export function requireNoForeignPage(config: PageSettings, { method, url, headers }: Asked): void {
  if (!isOpen(config.auth)) return
  const { host } = headers
  if (host !== undefined && host !== lastHost.get(config)) {
    requireOurs(config, nameIn(host))
    lastHost.set(config, host)
  }
  if (method === 'OPTIONS' || (READING.has(method) && FOR_ALL.test(url))) return
  requireOwnPage(config, { headers, host })
}

/**
 * Refuses what a page of another site asks. For web sockets in any mode: a browser lets every page open them, and asks
 * for no leave first. `host` is the name that the client called, also where a proxy is between.
 */
export function requireOwnPage(
  { corsOrigin }: Pick<PageSettings, 'corsOrigin'>,
  { headers, host }: { headers: IncomingHttpHeaders; host: string | undefined },
): void {
  const { origin } = headers
  const isForeign =
    origin === undefined ? headers['sec-fetch-site'] === 'cross-site' : origin !== corsOrigin && hostIn(origin) !== host
  if (isForeign) throw problem('foreign_page', { reason: 'Pages of other sites may not call this server.' })
}

/** Refuses body types that a page may send without a preflight. No type is fine: pages are known by their Origin. */
export function requireJsonType({ auth }: PageSettings, headers: IncomingHttpHeaders): void {
  const type = headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase() ?? ''
  const isJson = type === '' || /^application\/([\w.-]+\+)?json$/.test(type)
  if (isOpen(auth) && !isJson) throw problem('unsupported_media_type', { given: type.slice(0, 255) })
}

function requireOurs(config: PageSettings, name: string): void {
  if (isOurs(config, name)) return
  throw problem('foreign_page', { reason: `This server is not known as ${name.slice(0, 255)}; see --host-names.` })
}

function isOurs({ host, hostNames, mediaUrl }: PageSettings, name: string): boolean {
  if (isLoopback(name) || name.endsWith('.localhost') || name === host.toLowerCase()) return true
  // DNS can't make an IP address point here, so a page with this host was loaded from us.
  if (isIP(name) !== 0 && !isLoopback(host)) return true
  const media = mediaUrl === null ? null : URL.parse(mediaUrl)
  if (media && name === nameIn(media.host)) return true
  return name !== '' && hostNames.toLowerCase().split(',').includes(name)
}

const nameIn = (host: string) =>
  host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()

/** A page may send the origin "null", which is nobody's. */
const hostIn = (origin: string) => (URL.canParse(origin) ? new URL(origin).host : null)
