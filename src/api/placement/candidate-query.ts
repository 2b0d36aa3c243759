// Parses the query string of /allocation_candidates, which grew from version to version, into a candidate request.
import type { CandidateRequest, Group } from '../../ledger/candidates/request.ts'
import { problem } from '../../problems/problem.ts'
import { BoundedMap } from '../../shared/bounded-map.ts'
import { limits } from '../../shared/limits.ts'
import { check } from '../schema.ts'
import { byVersion } from './by-version.ts'
import { parseInTree, parseMemberOf, parseRequired, parseResources, parseTraits } from './filters.ts'
import type { PlacementRequest } from './request.ts'
import type { Has } from './versions.ts'
import { Type } from '../../shared/type.ts'

const Text = { type: 'string' }
const NUMBERED = '[1-9][0-9]*'
const NAMED = '[a-zA-Z0-9_-]{1,64}'

const patterns = (suffix: string, ...names: string[]) =>
  Object.fromEntries(names.map(name => [`^${name}(${suffix})?$`, Text]))
const limit = { limit: { type: 'string', pattern: '^[1-9][0-9]*$', minLength: 1 } }
const policy = { ...limit, group_policy: { type: 'string', enum: ['none', 'isolate'] } }
const named = patterns(NAMED, 'resources', 'required', 'member_of', 'in_tree')

const query = (properties: object, rest: object) =>
  Type.Unsafe<Record<string, string>>({ type: 'object', properties, ...rest, additionalProperties: false })
const plain = (properties: object) => query({ resources: Text, ...properties }, { required: ['resources'] })
const grouped = (properties: object, patternProperties: object) =>
  query({ ...properties, ...unsuffixed(patternProperties) }, { patternProperties })
/** The same names without a suffix, because the document lists them separately. */
const unsuffixed = (patternProperties: object) =>
  Object.fromEntries(Object.keys(patternProperties).map(pattern => [/^\^([a-z_]+)/.exec(pattern)![1]!, Text]))

const known = byVersion([
  ['sameSubtree', check(grouped({ ...policy, root_required: Text, same_subtree: Text }, named))],
  ['rootRequired', check(grouped({ ...policy, root_required: Text }, named))],
  ['stringSuffixes', check(grouped(policy, named))],
  ['candidateInTree', check(grouped(policy, patterns(NUMBERED, 'resources', 'required', 'member_of', 'in_tree')))],
  ['granular', check(grouped(policy, patterns(NUMBERED, 'resources', 'required', 'member_of')))],
  ['candidateMemberOf', check(plain({ ...limit, required: Text, member_of: Text }))],
  ['candidateTraits', check(plain({ ...limit, required: Text }))],
  ['limit', check(plain(limit))],
  [null, check(plain({}))],
])

/** The forms that the query may have, newest first. */
export const candidateQueries = known.all

/** What the queries of late mean, by version and text: schedulers ask the same few things over and over. */
const recent = new BoundedMap<string, CandidateRequest>(limits.parsedQueriesMax)

export function parseCandidateQuery(request: PlacementRequest): Readonly<CandidateRequest> {
  const { url } = request.raw
  const key = `${request.version.minor} ${url.slice(url.indexOf('?'))}`
  const known = recent.get(key)
  if (known) return known
  const parsed = parse(request)
  // A long query is rare, and would take the memory of many.
  if (key.length <= limits.parsedQueryCharsMax) recent.set(key, parsed)
  return parsed
}

function parse(request: PlacementRequest): CandidateRequest {
  const { query: params, has, version } = request
  request.checkedQuery(known(version))
  const { rootRequired, rootForbidden } = parseRoot(params.get('root_required'))
  const sameSubtree = params.getAll('same_subtree').map(parseSubtree)
  const groups = parseGroups(params, has)
  if (has.sameSubtree) checkSubtrees(groups, sameSubtree)
  else checkOrphans(groups)
  if (has.forbiddenTraits) checkConflicts(groups)
  const groupPolicy = params.get('group_policy') as CandidateRequest['groupPolicy']
  if (groupPolicy === null && groups.filter(group => group.suffix !== '').length > 1) {
    throw problem('invalid_query', {
      reason: 'The "group_policy" parameter is required when specifying more than one "resources{N}" parameter.',
    })
  }
  const most = params.get('limit')
  const wide = { groupPolicy, limit: most === null ? null : Number(most), rootRequired, rootForbidden, sameSubtree }
  return { groups, ...wide, nested: has.nestedCandidates, seed: null }
}

function parseGroups(params: URLSearchParams, has: Has): Group[] {
  const groups = new Map<string, Group>()
  for (const [key, value] of params) {
    const [, name, suffix = ''] = /^(resources|required|member_of|in_tree)([a-zA-Z0-9_-]{1,64})?$/.exec(key) ?? []
    if (name === undefined) continue
    const group = groups.getOrInsertComputed(suffix, () => emptyGroup(suffix))
    if (name === 'resources') group.resources = parseResources(value)
    else if (name === 'required') Object.assign(group, parseRequired(params.getAll(key), has))
    else if (name === 'member_of') Object.assign(group, parseMemberOf(params.getAll(key), has, suffix))
    else group.inTree = parseInTree(value)
  }
  return [...groups.values()]
}

const emptyGroup = (suffix: string): Group => ({
  suffix,
  resources: [],
  required: [],
  forbidden: [],
  memberOf: [],
  forbiddenAggregates: [],
  inTree: null,
})

function parseRoot(value: string | null): Pick<CandidateRequest, 'rootRequired' | 'rootForbidden'> {
  if (value === null) return { rootRequired: [], rootForbidden: [] }
  if (value.startsWith('in:')) {
    throw problem('invalid_query', {
      reason:
        "Invalid query string parameters: The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' " +
        `is not supported by root_required. Got: ${value}`,
    })
  }
  const { required, forbidden } = parseTraits(value, { forbiddenTraits: true })
  const rootRequired = required.flat()
  const conflicts = rootRequired.filter(trait => forbidden.includes(trait))
  if (conflicts.length > 0) {
    throw problem('query_bad_value', {
      reason: `Conflicting required and forbidden traits found in root_required: ${conflicts.join(', ')}`,
    })
  }
  return { rootRequired, rootForbidden: forbidden }
}

function parseSubtree(value: string): string[] {
  const suffixes = value.split(',').map(suffix => suffix.trim())
  if (suffixes.includes('')) {
    throw problem('query_bad_value', {
      reason: 'Empty string (unsuffixed group) can not be specified in `same_subtree` ',
    })
  }
  return [...new Set(suffixes)]
}

function checkSubtrees(groups: readonly Group[], sameSubtree: readonly string[][]): void {
  const bare = groups.filter(group => group.resources.length === 0).map(group => group.suffix)
  if (bare.length === groups.length) {
    throw problem('query_missing_value', {
      reason: 'There must be at least one resources or resources[$S] parameter.',
    })
  }
  const listed = new Set(sameSubtree.flat())
  const unlisted = bare.filter(suffix => !listed.has(suffix))
  if (unlisted.length > 0) {
    throw problem('query_bad_value', {
      reason:
        'Resourceless suffixed group request should be specified in `same_subtree` query param: ' +
        `bad group(s) - ${show(unlisted)}.`,
    })
  }
  const suffixes = groups.map(group => group.suffix)
  const unreal = [...listed].filter(suffix => !suffixes.includes(suffix))
  if (unreal.length > 0) {
    throw problem('query_bad_value', {
      reason: `Real suffixes should be specified in \`same_subtree\`: ${show(unreal)} not found in ${show(suffixes)}.`,
    })
  }
}

const show = (names: readonly string[]) => `[${names.map(name => `'${name}'`).join(', ')}]`

/** Before 1.36 every group needs resources. */
function checkOrphans(groups: readonly Group[]): void {
  const bare = groups.filter(group => group.resources.length === 0)
  const orphans = (what: string, key: string, found: readonly Group[]) => {
    if (found.length === 0) return
    const keys = found.map(group => key + group.suffix).join(', ')
    throw problem('invalid_query', {
      reason: `All ${what} parameters must be associated with resources. Found the following orphaned ${what} keys: ${keys}`,
    })
  }
  orphans(
    'traits',
    'required',
    bare.filter(group => group.required.length > 0),
  )
  orphans(
    'member_of',
    'member_of',
    bare.filter(group => group.memberOf.length + group.forbiddenAggregates.length > 0),
  )
  if (bare.length > 0) throw problem('invalid_query', { reason: 'All request groups must specify resources.' })
  if (groups.length === 0) {
    throw problem('invalid_query', {
      reason: 'At least one request group (`resources` or `resources{$S}`) is required.',
    })
  }
}

function checkConflicts(groups: readonly Group[]): void {
  const conflicts = groups.flatMap(({ suffix, required, forbidden }) =>
    required
      .filter(anyOf => anyOf.every(trait => forbidden.includes(trait)))
      .map(anyOf => `required${suffix}: (${anyOf.toSorted().join(', ')})`),
  )
  if (conflicts.length > 0) {
    throw problem('invalid_query', {
      reason: `Conflicting required and forbidden traits found in the following traits keys: ${conflicts.toSorted().join(', ')}`,
    })
  }
}
