// Where everyone is let in (none, noauth2), a web page could be too: a browser on this machine sends what any page asks it to.
// So pages of other sites are refused, and names that were made to point here, which would make a page one of ours.
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '../identity/networks.ts'
import { type AuthMode, isOpen } from '../identity/settings.ts'
import { problem } from '../problems/problem.ts'

export interface PageSettings {
  readonly auth: AuthMode
  readonly host: string
  readonly hostNames: string
  readonly corsOrigin: string | null
}

interface Asked {
  method: string
  url: string
  headers: IncomingHttpHeaders
}

/** The versions of each API and how we are: for everyone, and without a word of ours no browser shows them to a page. */
const AT_THE_TOP = /^\/\w*\/?(\?|$)/
const READING = new Set(['GET', 'HEAD'])

/** Refuses what a foreign page sends. */
export function requireNoForeignPage(config: PageSettings, { method, url, headers }: Asked): void {
  if (!isOpen(config.auth)) return
  const { host, origin } = headers
  if (host !== undefined && !isOurs(config, nameIn(host))) {
    throw problem('foreign_page', {
      reason: `This server is not known as ${nameIn(host).slice(0, 255)}; see --host-names.`,
    })
  }
  if (method === 'OPTIONS' || (READING.has(method) && AT_THE_TOP.test(url))) return
  const isForeign =
    origin === undefined
      ? headers['sec-fetch-site'] === 'cross-site'
      : origin !== config.corsOrigin && hostIn(origin) !== host
  if (isForeign) throw problem('foreign_page', { reason: 'Pages of other sites may not call this server.' })
}

/** Refuses bodies that a page may send without asking first. Clients that name no type are no pages: those name their origin. */
export function requireJsonType({ auth }: PageSettings, headers: IncomingHttpHeaders): void {
  const type = headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase() ?? ''
  const isJson = type === '' || /^application\/([\w.-]+\+)?json$/.test(type)
  if (isOpen(auth) && !isJson) throw problem('unsupported_media_type', { given: type.slice(0, 255) })
}

function isOurs({ host, hostNames }: PageSettings, name: string): boolean {
  if (isLoopback(name) || name.endsWith('.localhost') || name === host.toLowerCase()) return true
  // Only what was loaded from an address has it for a name, so it can't be made to point here.
  if (isIP(name) !== 0 && !isLoopback(host)) return true
  return name !== '' && hostNames.toLowerCase().split(',').includes(name)
}

const nameIn = (host: string) =>
  host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()

/** Null is an origin too, and nobody's. */
const hostIn = (origin: string) => (URL.canParse(origin) ? new URL(origin).host : null)
