// The question that a candidate search answers, parsed: names only, no query strings and no versions.

export interface ResourceAmount {
  resourceClass: string
  amount: number
}

export interface Group {
  /** '' is the unsuffixed group, which alone may be spread over several providers. */
  suffix: string
  resources: ResourceAmount[]
  /** All of these; within each, any one. */
  required: string[][]
  forbidden: string[]
  /** All of these; within each, any one. */
  memberOf: string[][]
  forbiddenAggregates: string[]
  /** The uuid of any provider in the tree. */
  inTree: string | null
}

export interface CandidateRequest {
  groups: Group[]
  groupPolicy: 'none' | 'isolate' | null
  limit: number | null
  rootRequired: string[]
  rootForbidden: string[]
  sameSubtree: string[][]
  /** false: a candidate may not use two providers of one tree. */
  nested: boolean
  /** A number shuffles the order; the same number always gives the same order. */
  seed: number | null
}

export function group(suffix: string, amounts: Record<string, number>, rest: Partial<Group> = {}): Group {
  const resources = Object.entries(amounts).map(([resourceClass, amount]) => ({ resourceClass, amount }))
  const open = { required: [], forbidden: [], memberOf: [], forbiddenAggregates: [], inTree: null }
  return { suffix, resources, ...open, ...rest }
}

export function request(groups: Group[], rest: Partial<CandidateRequest> = {}): CandidateRequest {
  const open = {
    groupPolicy: null,
    limit: null,
    rootRequired: [],
    rootForbidden: [],
    sameSubtree: [],
    nested: true,
    seed: null,
  }
  return { groups, ...open, ...rest }
}
