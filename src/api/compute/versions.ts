// Compute has one microversion, 2.1: every command of the real clients works with it, and it has the fewest formats.
import type { IncomingHttpHeaders } from 'node:http'
import { problem } from '../../problems/problem.ts'

export const ONLY = '2.1'

/** Answers have both headers, because clients send either. */
export const VERSION_HEADERS = {
  'openstack-api-version': `compute ${ONLY}`,
  'x-openstack-nova-api-version': ONLY,
  vary: 'OpenStack-API-Version, X-OpenStack-Nova-API-Version',
}

export function requireVersion(headers: IncomingHttpHeaders): void {
  const given = asked(headers)
  if (given === null || given === ONLY || given === 'latest') return
  if (!/^[1-9]\d{0,8}\.(0|[1-9]\d{0,8})$/.test(given)) {
    throw problem('compute_version_malformed', { given: given.slice(0, 100) })
  }
  throw problem('compute_version_unsupported', { given, only: ONLY })
}

/** The newer header wins; it may name the versions of several services. */
function asked(headers: IncomingHttpHeaders): string | null {
  for (const part of String(headers['openstack-api-version'] ?? '').split(',')) {
    const [service, version = ''] = part.trim().split(/\s+/)
    if (service?.toLowerCase() === 'compute') return version
  }
  const legacy = headers['x-openstack-nova-api-version']
  return legacy === undefined ? null : String(legacy).trim()
}
