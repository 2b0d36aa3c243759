// Compute's microversions, 2.1 to 2.38: the version header becomes words, and handlers know only words.
// Versions that are missing here (2.2, 2.4 …) are about things that this API doesn't have, such as key pairs.
import type { IncomingHttpHeaders } from 'node:http'
import { problem } from '../../problems/problem.ts'
import * as frame from '../frame/versions.ts'

const MAJOR = 2
const MIN_MINOR = 1
const MAX_MINOR = 38

/** The minor version that brought each thing. */
const SINCE = {
  moreAttributes: 3, // reservation_id, launch_index, hostname … of a server, for those who may know its host
  locked: 9, // the field
  forcedDown: 11, // of a service: the field, and PUT force-down
  evacuationWithoutPassword: 14, // neither onSharedStorage in the request nor adminPass in the answer
  hostStatus: 16, // of a server, for those who may know its host
  descriptions: 19, // of servers
  moveTypes: 23, // migration_type in lists of moves, and /servers/{id}/migrations
  liveMoveDecides: 25, // block_migration may be auto, and disk_over_commit is gone
  tags: 26, // of servers
  cpuInfoObject: 28, // instead of text
  forcedEvacuation: 29, // force
  forcedLiveMove: 30, // force
  hypervisorPages: 33, // limit and marker
  noNetworkQuotas: 36, // quotas of networks are gone
  networks: 37, // of a new server: must be given, and may be none or auto
  knownStatus: 38, // ?status= must name a status
} as const

export type Word = keyof typeof SINCE
type Version = frame.Version<Word>
export const since = (word: Word) => `${MAJOR}.${SINCE[word]}`

/** Answers have both headers, because clients send either. */
const VERSIONS = frame.versionsOf(
  SINCE,
  MAX_MINOR,
  text => ({
    'openstack-api-version': `compute ${text}`,
    'x-openstack-nova-api-version': text,
    vary: 'OpenStack-API-Version, X-OpenStack-Nova-API-Version',
  }),
  MAJOR,
)
export const OLDEST: Version = VERSIONS[MIN_MINOR]!
export const NEWEST: Version = VERSIONS[MAX_MINOR]!

/** The version that a request asks for; without a header the oldest. */
export function negotiate(headers: IncomingHttpHeaders): Version {
  const given = asked(headers)
  if (given === null) return OLDEST
  if (given === 'latest') return NEWEST
  const [, major, minor] = /^([1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/.exec(given) ?? []
  if (major === undefined) throw problem('compute_version_malformed', { given: given.slice(0, 100) })
  const version = Number(major) === MAJOR && Number(minor) >= MIN_MINOR ? VERSIONS[Number(minor)] : undefined
  if (!version) throw problem('compute_version_unsupported', { given, oldest: OLDEST.text, newest: NEWEST.text })
  return version
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
