// What the providers have and use, and what a question to Placement would find.
import type { Candidates, CandidatesExplained } from '../../../src/client/candidates.ts'
import type { CapacityProvider } from '../../../src/client/capacity.ts'
import type { Query } from '../../../src/client/wire.ts'
import { server } from './session.ts'

export type { Candidates, CandidatesExplained }

/** Every provider with what it has and uses. */
export const readCapacity = (): Promise<CapacityProvider[]> => server().capacity()

/** Tells when providers or claims change, until it is ended. Whoever listens looks now and then all the same. */
export async function followCapacity(changed: () => void, signal: AbortSignal): Promise<void> {
  try {
    const events = server().events({ kinds: ['claim', 'provider'], signal, beginAfresh: true })
    while ((await events.next()).done !== true) changed()
  } catch {
    // Events may be refused to those who may see capacity.
  }
}

export const explainedQuestion = (query: Query): Promise<CandidatesExplained> => server().candidates.explain(query)

export const candidatesOf = (query: Query): Promise<Candidates> => server().candidates.list(query)
