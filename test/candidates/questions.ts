// Questions to allocation candidates and the provider list in the words of tests, and answers in a form to compare.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Amounts, expectStatus, Placement } from '../support/placement.ts'

export interface AllocationRequest {
  allocations: Record<string, { resources: Amounts }>
  mappings?: Record<string, string[]>
}

export interface Summary {
  resources: Record<string, { capacity: number; used: number }>
  traits: string[]
  parent_provider_uuid: string | null
  root_provider_uuid: string
}

export interface Candidates {
  requests: AllocationRequest[]
  summaries: Record<string, Summary>
  /** Was everything looked at? */
  complete: boolean
}

export async function candidates(api: Placement, query: string, version = '1.39'): Promise<Candidates> {
  const answer = expectStatus(await api.get(`/allocation_candidates?${query}`, { version }), 200)
  const { allocation_requests: requests, provider_summaries: summaries } = answer.body
  return { requests, summaries, complete: answer.headers['holdfast-search'] === undefined }
}

/** The answer as text that doesn't depend on any order. */
export function normalised({ requests, summaries }: Candidates): string {
  const each = (list: readonly unknown[]) => list.map(one => JSON.stringify(inOrder(one))).sort()
  return JSON.stringify([each(requests), each(Object.entries(summaries))])
}

/** Objects with their members in order; a summary's traits count as a set. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.every(one => typeof one === 'string') ? [...value].sort() : value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, inOrder(member)]))
}

/** The providers that take part in any candidate, in order. */
export function providersIn({ requests }: Candidates): string[] {
  return [...new Set(requests.flatMap(request => Object.keys(request.allocations)))].sort()
}

export async function listed(api: Placement, query: string): Promise<string[]> {
  const { body } = expectStatus(await api.get(`/resource_providers?${query}`), 200)
  return body.resource_providers.map((provider: { uuid: string }) => provider.uuid).sort()
}

/** Exactly these providers, each by itself, are candidates, and the provider list with the same filter has them too. */
export async function expectFound(api: Placement, query: string, ...uuids: string[]): Promise<void> {
  const [found, list] = await Promise.all([candidates(api, query), listed(api, query)])
  assert.deepEqual(providersIn(found), uuids.toSorted(), `candidates for ${query}`)
  assert.equal(found.requests.length, uuids.length)
  assert.deepEqual(list, uuids.toSorted(), `providers for ${query}`)
}

let names = 0

/** A new resource class, so that a test meets only its own providers. */
export async function newClass(api: Placement): Promise<string> {
  const name = `CUSTOM_CLASS_${++names}_${randomUUID().slice(0, 8).toUpperCase()}`
  expectStatus(await api.put(`/resource_classes/${name}`), 201)
  return name
}

export async function newTrait(api: Placement): Promise<string> {
  const name = `CUSTOM_TRAIT_${++names}_${randomUUID().slice(0, 8).toUpperCase()}`
  expectStatus(await api.put(`/traits/${name}`), 201)
  return name
}

export async function setTraits(api: Placement, provider: string, ...traits: string[]): Promise<void> {
  const resource_provider_generation = await api.generation(provider)
  expectStatus(await api.put(`/resource_providers/${provider}/traits`, { traits, resource_provider_generation }), 200)
}

export async function setAggregates(api: Placement, provider: string, ...aggregates: string[]): Promise<void> {
  const body = { aggregates, resource_provider_generation: await api.generation(provider) }
  expectStatus(await api.put(`/resource_providers/${provider}/aggregates`, body), 200)
}

export function move(api: Placement, child: string, parent: string | null) {
  return api.put(`/resource_providers/${child}`, { name: `provider-${child}`, parent_provider_uuid: parent })
}

/** What a candidate would claim, in the form that `claim` takes. */
export function claimsOf({ allocations }: AllocationRequest): Record<string, Amounts> {
  return Object.fromEntries(Object.entries(allocations).map(([uuid, { resources }]) => [uuid, resources]))
}

const POLL_MS = 10
const PATIENCE_MS = 10_000

/** Asks again and again until it is so; what it was instead is told when patience ends. */
export async function eventually<T>(ask: () => Promise<T>, isSo: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await ask()
    if (isSo(answer)) return answer
    if (performance.now() > deadline) assert.fail(`still ${JSON.stringify(answer)?.slice(0, 2_000)}`)
    await sleep(POLL_MS)
  }
}

/** Waits until every process that answers for this client knows these providers. */
export async function everywhereKnown(api: Placement, ...uuids: string[]): Promise<void> {
  for (const origin of api.origins) {
    const one = new Placement(origin)
    for (const uuid of uuids)
      await eventually(
        () => listed(one, `in_tree=${uuid}`),
        found => found.includes(uuid),
      )
    one.close()
  }
}
