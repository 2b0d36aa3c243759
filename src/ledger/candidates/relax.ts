// The ways to ask for a little less: each condition of a request that can be dropped, as the request without it.
import type { CandidateRequest, Group } from './request.ts'

export interface Edit {
  sentence: string
  apply(request: CandidateRequest): CandidateRequest
}

export function droppable(request: CandidateRequest): Edit[] {
  return [...request.groups.flatMap((group, at) => ofGroup(group, at)), ...ofWhole(request)]
}

const named = (group: Group) => (group.suffix === '' ? '' : ` in group ${group.suffix}`)
const without = <T>(list: readonly T[], item: T): T[] => list.filter(one => one !== item)

function ofGroup(group: Group, at: number): Edit[] {
  const edit = (sentence: string, change: (now: Group) => Partial<Group>): Edit => ({
    sentence: `without ${sentence}${named(group)}`,
    apply: request => changeGroup(request, at, change),
  })
  const out = [
    ...group.required.map(any => edit(`trait ${any.join(' or ')}`, now => ({ required: without(now.required, any) }))),
    ...group.forbidden.map(one => edit(`forbidding trait ${one}`, now => ({ forbidden: without(now.forbidden, one) }))),
    ...group.memberOf.map(any =>
      edit(`aggregate ${any.join(' or ')}`, now => ({ memberOf: without(now.memberOf, any) })),
    ),
    ...group.forbiddenAggregates.map(one =>
      edit(`forbidding aggregate ${one}`, now => ({ forbiddenAggregates: without(now.forbiddenAggregates, one) })),
    ),
  ]
  if (group.inTree !== null) out.push(edit(`in_tree ${group.inTree}`, () => ({ inTree: null })))
  return out
}

function ofWhole(request: CandidateRequest): Edit[] {
  const out: Edit[] = []
  for (const trait of request.rootRequired) {
    out.push({
      sentence: `without trait ${trait} on the root`,
      apply: now => ({ ...now, rootRequired: without(now.rootRequired, trait) }),
    })
  }
  for (const trait of request.rootForbidden) {
    out.push({
      sentence: `without forbidding trait ${trait} on the root`,
      apply: now => ({ ...now, rootForbidden: without(now.rootForbidden, trait) }),
    })
  }
  if (request.groupPolicy === 'isolate' && request.groups.filter(one => one.suffix !== '').length > 1) {
    out.push({ sentence: 'with group_policy=none', apply: now => ({ ...now, groupPolicy: 'none' }) })
  }
  for (const suffixes of request.sameSubtree) {
    if (suffixes.length < 2) continue
    out.push({ sentence: `without same_subtree=${suffixes.join()}`, apply: now => dropSubtree(now, suffixes) })
  }
  return out
}

// A group without resources must be named by some same_subtree, so it keeps one of its own.
function dropSubtree(request: CandidateRequest, suffixes: string[]): CandidateRequest {
  const rest = without(request.sameSubtree, suffixes)
  const orphans = request.groups
    .filter(group => group.resources.length === 0 && suffixes.includes(group.suffix))
    .filter(group => !rest.some(other => other.includes(group.suffix)))
  return { ...request, sameSubtree: [...rest, ...orphans.map(group => [group.suffix])] }
}

/** The request without one group. A group without resources goes too, if no same_subtree names it any more. */
export function withoutGroup(request: CandidateRequest, suffix: string): CandidateRequest {
  const sameSubtree = request.sameSubtree.map(list => without(list, suffix)).filter(list => list.length > 1)
  const groups = request.groups.filter(
    group =>
      group.suffix !== suffix &&
      (group.suffix === '' || group.resources.length > 0 || sameSubtree.some(list => list.includes(group.suffix))),
  )
  return { ...request, groups, sameSubtree }
}

function changeGroup(
  request: CandidateRequest,
  at: number,
  change: (group: Group) => Partial<Group>,
): CandidateRequest {
  return { ...request, groups: request.groups.map((one, i) => (i === at ? { ...one, ...change(one) } : one)) }
}

export function withAmount(
  request: CandidateRequest,
  at: number,
  resourceClass: string,
  amount: number,
): CandidateRequest {
  return changeGroup(request, at, group => ({
    resources: group.resources.map(one => (one.resourceClass === resourceClass ? { resourceClass, amount } : one)),
  }))
}
