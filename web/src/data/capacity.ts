// What the providers have and use, and what a question to Placement would find.
import type { Candidates, CandidatesExplained } from '../../../src/client/candidates.ts'
import type { CapacityProvider } from '../../../src/client/capacity.ts'
import type { Query } from '../../../src/client/wire.ts'
import { server } from './session.ts'

export type { Candidates, CandidatesExplained }

/** Every provider with what it has and uses. */
export const readCapacity = (): Promise<CapacityProvider[]> => server().capacity()

export const explainedQuestion = (query: Query): Promise<CandidatesExplained> => server().candidates.explain(query)

export const candidatesOf = (query: Query): Promise<Candidates> => server().candidates.list(query)
