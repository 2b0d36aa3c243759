// Allocation candidates: where a claim would fit, and why it doesn't fit elsewhere.
import type { Api, Json, Query } from './wire.ts'

type Amounts = Record<string, number>

export interface Candidates {
  allocation_requests: { allocations: Record<string, { resources: Amounts }>; mappings: Record<string, string[]> }[]
  provider_summaries: Record<
    string,
    { resources: Record<string, { capacity: number; used: number }>; traits: string[]; root_provider_uuid: string }
  >
}

export interface CandidatesExplained extends Json {
  query: string
  roots: number
  groups: {
    suffix: string
    resourceClass: string | null
    providers: number
    steps: { condition: string; left: number }[]
    removedBy: string | null
    nearest: { uuid: string; name: string; lacks: string[] }[]
  }[]
  together: { condition: string; roots: number }[]
  relaxations: { sentence: string; roots: number; query: string }[]
  complete: boolean
}

/** The query is Placement's, as in { resources: 'VCPU:2', required: 'HW_CPU_X86_AVX2' }. */
export class CandidateSearch {
  readonly #api: Api
  readonly #operator: Api

  constructor(api: Api, operator: Api) {
    this.#api = api
    this.#operator = operator
  }

  list = (query: Query) => this.#api.get<Candidates>('/allocation_candidates', query)
  explain = (query: Query) => this.#operator.get<CandidatesExplained>('/explain/allocation_candidates', query)
}
