// Requests for a machine, apart from the server: what they are called, and others like them.
import type { AllocationExplained, NewAllocation } from '../../../src/client/allocations.ts'
import type { Lease } from '../../../src/client/leases.ts'
import type { Waiting } from '../../../src/client/status.ts'

/** What people call a request. */
export const requestName = ({ name, uuid }: Pick<Waiting, 'name' | 'uuid'>): string => name ?? uuid.slice(0, 8)

/** The reservation API tells times in UTC, without saying so. */
export const startOf = ({ start_date }: Pick<Lease, 'start_date'>): number => Date.parse(`${start_date.slice(0, 19)}Z`)

export interface Change {
  /** The traits to leave out. */
  withoutTraits?: readonly string[] | undefined
  /** Any machine, not only those that were named. */
  withoutCandidates?: boolean | undefined
  kind?: string | undefined
}

/** A request like one that is there, with something changed. It lasts and waits as long as that one was to. */
export function requestLike({ allocation }: Pick<AllocationExplained, 'allocation'>, change: Change): NewAllocation {
  const asked = Date.parse(String(allocation['created_at']))
  const span = (until: string | null) =>
    until === null ? undefined : `${Math.max(60, Math.round((Date.parse(until) - asked) / 1_000))}s`
  const candidates = (allocation['candidate_nodes'] ?? []) as string[]
  return {
    ...(allocation.name !== null && { name: nextName(allocation.name) }),
    resource_class: change.kind ?? allocation.resource_class,
    traits: allocation.traits.filter(trait => !change.withoutTraits?.includes(trait)),
    ...(candidates.length > 0 && !change.withoutCandidates && { candidate_nodes: candidates }),
    ...(typeof allocation['owner'] === 'string' && { owner: allocation['owner'] }),
    extra: allocation['extra'] as NewAllocation['extra'],
    expires_at: span(allocation.expires_at),
    wait_until: span(allocation.wait_until),
    ...(allocation.note !== null && { note: allocation.note }),
  }
}

/** `train` is followed by `train-2`, that by `train-3`. */
export function nextName(name: string): string {
  const [, stem, number] = /^(.*?)-(\d{1,4})$/.exec(name) ?? []
  return stem === undefined ? `${name}-2` : `${stem}-${Number(number) + 1}`
}
