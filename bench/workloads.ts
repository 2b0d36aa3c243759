// The workloads of the claims bench, each as a source of requests.
import type { Request } from './client.ts'
import * as requests from './requests.ts'

export interface Ledger {
  /** Providers that never fill up. */
  providers: string[]
  /** Consumers that hold claims, for DELETE to release. */
  consumers: string[]
}

export interface Workload {
  name: string
  claimsPerRequest: number
  classes: number
  /** The bare HTTP request that gives its limit; DELETE has none. */
  http?: string
  next: (ledger: Ledger) => Request | undefined
}

export const SPREAD_1 = put('PUT, 1 class, spread', 1, anyProvider)
export const SPREAD_3 = put('PUT, 3 classes, spread', 3, anyProvider)
export const HOT_3 = put('PUT, 3 classes, one hot provider', 3, hotProvider)
export const POST_2 = post(2)
export const POST_100 = post(100)
export const RELEASE: Workload = { name: 'DELETE', claimsPerRequest: 1, classes: 3, next: release }

/** In running order: DELETE comes last, because it releases the claims of the others. */
export const WORKLOADS = [SPREAD_1, SPREAD_3, HOT_3, POST_2, POST_100, RELEASE]

/** The same requests for the bare server, which only validates them. */
export function bareRequests(): Record<string, () => Request> {
  const ledger = { providers: Array.from({ length: 1000 }, () => crypto.randomUUID()), consumers: [] }
  const next = (workload: Workload) => () => {
    const request = workload.next(ledger)
    if (request === undefined) throw new Error(`${workload.name} ran dry`)
    return { text: request.text, claims: request.claims }
  }
  return Object.fromEntries(
    WORKLOADS.flatMap(workload => (workload.http === undefined ? [] : [[workload.http, next(workload)]])),
  )
}

function put(name: string, classes: number, provider: (ledger: Ledger) => string): Workload {
  const next = (ledger: Ledger) => {
    const consumer = crypto.randomUUID()
    return {
      text: requests.putAllocation(consumer, provider(ledger), classes),
      claims: 1,
      onAnswer: () => void ledger.consumers.push(consumer),
    }
  }
  return { name, claimsPerRequest: 1, classes, http: `put-${classes}`, next }
}

function post(size: number): Workload {
  const next = (ledger: Ledger) => {
    const claims = Array.from({ length: size }, () => ({
      consumer: crypto.randomUUID(),
      provider: anyProvider(ledger),
    }))
    const onAnswer = () => void ledger.consumers.push(...claims.map(({ consumer }) => consumer))
    return { text: requests.postAllocations(claims, 3), claims: size, onAnswer }
  }
  return {
    name: `POST, ${size} consumers, 3 classes, spread`,
    claimsPerRequest: size,
    classes: 3,
    http: `post-${size}`,
    next,
  }
}

function release(ledger: Ledger): Request | undefined {
  const consumer = ledger.consumers.pop()
  return consumer === undefined ? undefined : { text: requests.deleteAllocation(consumer), claims: 1 }
}

function anyProvider({ providers }: Ledger): string {
  return providers[Math.floor(Math.random() * providers.length)] ?? ''
}

function hotProvider({ providers }: Ledger): string {
  return providers[0] ?? ''
}
