// Placement's microversions, 1.0 to 1.39: the version header becomes words, and handlers know only words.
import { problem } from '../../problems/problem.ts'
import * as frame from '../frame/versions.ts'

export const MAX_MINOR = 39

/** The minor version that brought each thing. */
const SINCE = {
  aggregates: 1,
  resourceClasses: 2,
  memberOf: 3,
  resourcesFilter: 4,
  deleteInventories: 5,
  traits: 6,
  classPutWithoutBody: 7,
  consumerOwners: 8,
  totalUsages: 9,
  candidates: 10,
  allocationsLink: 11,
  keyedAllocations: 12,
  manyConsumers: 13,
  trees: 14,
  cacheHeaders: 15,
  limit: 16,
  candidateTraits: 17,
  requiredFilter: 18,
  aggregateGeneration: 19,
  providerInAnswer: 20,
  candidateMemberOf: 21,
  forbiddenTraits: 22,
  errorCodes: 23,
  manyMemberOf: 24,
  granular: 25,
  reserveAll: 26,
  allClassesInSummaries: 27,
  consumerGeneration: 28,
  nestedCandidates: 29,
  reshaper: 30,
  candidateInTree: 31,
  forbiddenAggregates: 32,
  stringSuffixes: 33,
  mappings: 34,
  rootRequired: 35,
  sameSubtree: 36,
  reparenting: 37,
  consumerTypes: 38,
  anyTraits: 39,
} as const

export type Word = keyof typeof SINCE
export const since = (word: Word) => `1.${SINCE[word]}`
export type Version = frame.Version<Word>
export type Has = Version['has']

export const VERSION_HEADER = 'openstack-api-version'
export const VERSIONS = frame.versionsOf(SINCE, MAX_MINOR, text => ({
  [VERSION_HEADER]: `placement ${text}`,
  vary: VERSION_HEADER,
}))

const OLDEST: Version = VERSIONS[0]!

// Clients send the same few headers over and over.
const KNOWN_MAX = 256
const known = new Map<string, Version>()

/** The version that a request asks for; the oldest if the header doesn't name Placement. */
export function negotiate(header: string | string[] | undefined): Version {
  if (header === undefined) return OLDEST
  const text = String(header)
  const found = known.get(text) ?? parse(text)
  if (known.size < KNOWN_MAX) known.set(text, found)
  return found
}

function parse(header: string): Version {
  const wanted = wantedOf(header)
  if (wanted === null) return OLDEST
  if (wanted === 'latest') return VERSIONS[MAX_MINOR]!
  const [, major, minor] = /^\s*([+-]?\d+)\s*\.\s*([+-]?\d+)\s*$/.exec(wanted) ?? []
  if (major === undefined) {
    throw problem('malformed_request', { reason: `Invalid microversion: invalid version string: ${wanted}` })
  }
  const version = Number(major) === 1 ? VERSIONS[Number(minor)] : undefined
  if (!version) throw problem('version_not_acceptable', { wanted })
  return version
}

/** The last version for Placement in a header such as "placement 1.10, compute 2.53". */
function wantedOf(header: string): string | null {
  for (const part of header.split(',').toReversed()) {
    const [, service, version] = /^\s*(\S+)\s+(\S.*?)\s*$/.exec(part) ?? []
    if (service?.toLowerCase() === 'placement') return version!
  }
  return null
}
