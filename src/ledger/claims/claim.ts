// Claim requests: to replace all that some consumers have, or to release what one has.
import { subject } from '../../events/subject.ts'
import { limits } from '../../shared/limits.ts'
import type { Subject } from '../../store/transaction.ts'

/** Amounts by provider uuid and resource class. */
export type Resources = ReadonlyMap<string, ReadonlyMap<string, number>>

/** All that one consumer will have. Without resources the consumer is removed. */
export interface ConsumerClaims {
  consumer: string
  projectId: string
  userId: string
  /** undefined leaves the type as it is. */
  type: string | undefined
  /** What the consumer's generation must be: null for "doesn't exist yet", undefined for "any". */
  generation: number | null | undefined
  resources: Resources
}

export type ClaimRequest =
  | { kind: 'replace'; consumers: readonly ConsumerClaims[]; /** Who manages these consumers. */ owner: string | null }
  | { kind: 'release'; consumer: string; owner: string | null }

export function consumersOf(request: ClaimRequest): string[] {
  return request.kind === 'release' ? [request.consumer] : request.consumers.map(c => c.consumer)
}

/** The providers and resource classes that the requests name. */
export function namesIn(requests: readonly ClaimRequest[]): { providers: string[]; names: string[] } {
  const providers = new Set<string>()
  const names = new Set<string>()
  for (const request of requests) {
    if (request.kind === 'release') continue
    for (const { resources } of request.consumers) {
      for (const [provider, amounts] of resources) {
        providers.add(provider)
        for (const name of amounts.keys()) names.add(name)
      }
    }
  }
  return { providers: [...providers], names: [...names] }
}

/** What a granted request changes, with generations where the request names them. */
export function subjectsOf(request: ClaimRequest): Subject[] {
  if (request.kind === 'release') return [subject('claim', request.consumer, 'deleted', { after: null })]
  const total = request.consumers.length
  return request.consumers.map(claims => subjectOf(claims, total))
}

/** What becomes of one of the `total` consumers of a request. */
export function subjectOf({ consumer, projectId, generation, resources }: ConsumerClaims, total: number): Subject {
  const before = generation === undefined ? {} : { before: generation }
  const whose = { project: projectId }
  if (resources.size === 0) return subject('claim', consumer, 'deleted', { ...before, after: null, whose })
  const after = generation === undefined ? {} : { after: (generation ?? 0) + 1 }
  const data = { resources: shown(resources), total }
  return subject('claim', consumer, 'set', { ...before, ...after, whose, data })
}

/** Null when they are of too many providers. */
function shown(resources: Resources): object | null {
  if (resources.size > limits.eventListMax) return null
  // Without a prototype: otherwise V8 would make a hidden class for each provider.
  const amounts = { __proto__: null } as unknown as Record<string, object>
  for (const [provider, names] of resources) amounts[provider] = Object.fromEntries(names)
  return amounts
}

/** How much work a request is: the rows that it names. */
export function weightOf(request: ClaimRequest): number {
  if (request.kind === 'release') return 1
  let rows = 0
  for (const { resources } of request.consumers) for (const amounts of resources.values()) rows += amounts.size
  return Math.max(rows, 1)
}

interface Weighed {
  readonly weight: number
}

/** Larger than a whole batch: others get turns while it is decided and written. */
export const isLong = ({ weight }: Weighed): boolean => weight > limits.claimBatchRowsMax

/** How many of the first make a batch. */
export function sizeOfBatch(waiting: Iterable<Weighed>): number {
  let [size, rows] = [0, 0]
  for (const { weight } of waiting) {
    rows += weight
    if (size === limits.claimBatchMax || (rows > limits.claimBatchRowsMax && size > 0)) break
    size++
  }
  return size
}
