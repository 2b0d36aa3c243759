// The paths of bare metal have up to four spellings. They become one before the router sees them: a route for each
// spelling made up half of all routes, and those take a good part of a start.
import { PREFIXES, VERSION_PATHS } from '../frame/prefixes.ts'

const START = `${PREFIXES.baremetal}/`
/** Clients may send the whole URL, and do so through some proxies. The router leaves this out too. */
const BEFORE_PATH = /^https?:\/\/.*?(?=\/)/
const VERSION = VERSION_PATHS.baremetal.slice(1)
/**
 * Upstream reads `detail/` as a node without a name. Its route has a slash, so two slashes must not become one there. Above
 * a heartbeat, and above the node in the older spellings, is no list: with the slash it is one without a name.
 */
const KEPT = new RegExp(`^${START}${VERSION}/(nodes/(detail/|[^/]*//|states/(console/)?)|heartbeat/)$`)

/**
 * The URL as the routes have it: with the version, as upstream adds it for clients that take the catalog's URL as it is,
 * and without a slash at the end. The document of the versions is at the prefix itself.
 */
export function plainUrl(given: string): string {
  const url = given.startsWith('/') ? given : given.replace(BEFORE_PATH, '')
  if (!url.startsWith(START)) return url
  const end = url.search(/[?#]/)
  const path = end < 0 ? url : url.slice(0, end)
  if (path === START) return url
  const versioned = decoded(firstNameOf(path)) === VERSION ? path : `${START}${VERSION}/${path.slice(START.length)}`
  const isEnded = versioned.endsWith('/') && !KEPT.test(decoded(versioned))
  return (isEnded ? versioned.slice(0, -1) : versioned) + url.slice(path.length)
}

function firstNameOf(path: string): string {
  const end = path.indexOf('/', START.length)
  return path.slice(START.length, end < 0 ? path.length : end)
}

/** As the router reads it, which refuses what can't be decoded. */
function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURI(text)
  } catch {
    return text
  }
}
