// The only microversion of the reservation API, 1.0, and its version document.
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { Links, named, Text } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

export const VERSION = '1.0'

/** Refuses requests for any other version. */
export function requireVersion(header: string | string[] | undefined): void {
  const wanted = wantedOf(String(header ?? ''))
  if (wanted === null || wanted === 'latest' || wanted === VERSION) return
  if (!/^[1-9]\d*\.(0|[1-9]\d*)$/.test(wanted)) {
    throw problem('malformed_request', { reason: `Invalid microversion: invalid version string: ${wanted}` })
  }
  throw problem('version_not_acceptable', { wanted })
}

/** The last version for this service, in a header such as "reservation 1.0, compute 2.53". */
function wantedOf(header: string): string | null {
  for (const part of header.split(',').toReversed()) {
    const [service, ...version] = part.trim().split(/\s+/)
    if (service?.toLowerCase() === 'reservation') return version.join(' ')
  }
  return null
}

versionDocument.operation = {
  summary: 'Show the versions of the API',
  answers: {
    300: Type.Object({
      versions: Type.Array(
        named('Version', { id: Text, status: Text, links: Links, min_version: Text, max_version: Text }),
      ),
    }),
  },
} satisfies Operation

export function versionDocument(base: string): object {
  const links = [{ href: `${base}/v1`, rel: 'self' }]
  return { versions: [{ id: 'v1.0', status: 'CURRENT', links, min_version: VERSION, max_version: VERSION }] }
}
