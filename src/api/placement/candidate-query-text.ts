// Writes a candidate request as the query string that means it.
import type { CandidateRequest, Group } from '../../ledger/candidates/request.ts'

export function candidateQueryOf(request: CandidateRequest): string {
  const parts = request.groups.flatMap(groupParts)
  if (request.groupPolicy !== null) parts.push(['group_policy', request.groupPolicy])
  const root = [...request.rootRequired, ...request.rootForbidden.map(trait => `!${trait}`)]
  if (root.length > 0) parts.push(['root_required', root.join(',')])
  for (const suffixes of request.sameSubtree) parts.push(['same_subtree', suffixes.join(',')])
  if (request.limit !== null) parts.push(['limit', String(request.limit)])
  return parts.map(([key, value]) => `${key}=${value}`).join('&')
}

function groupParts(group: Group): [string, string][] {
  const parts: [string, string][] = []
  const add = (name: string, values: readonly string[]) => {
    for (const value of values) parts.push([name + group.suffix, value])
  }
  if (group.resources.length > 0) {
    add('resources', [group.resources.map(({ resourceClass, amount }) => `${resourceClass}:${amount}`).join(',')])
  }
  const plain = group.required.filter(anyOf => anyOf.length === 1).flat()
  const traits = [...plain, ...group.forbidden.map(trait => `!${trait}`)]
  if (traits.length > 0) add('required', [traits.join(',')])
  add(
    'required',
    group.required.filter(anyOf => anyOf.length > 1).map(anyOf => `in:${anyOf.join(',')}`),
  )
  add(
    'member_of',
    group.memberOf.map(anyOf => (anyOf.length === 1 ? anyOf[0]! : `in:${anyOf.join(',')}`)),
  )
  if (group.forbiddenAggregates.length > 0) add('member_of', [`!in:${group.forbiddenAggregates.join(',')}`])
  if (group.inTree !== null) add('in_tree', [group.inTree])
  return parts
}
