// What Prometheus gets to see.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { StoreObserver } from './store/store.ts'

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64]

export class Metrics implements StoreObserver {
  readonly registry = new Registry()
  readonly #requests = new Histogram({
    name: 'holdfast_http_request_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: SECONDS,
    registers: [this.registry],
  })
  readonly #refusals = new Counter({
    name: 'holdfast_refusals_total',
    help: 'Requests without a valid token (401) or without permission (403).',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [this.registry],
  })
  readonly #claims = new Counter({
    name: 'holdfast_claims_total',
    help: 'Claim requests, by what became of them.',
    labelNames: ['outcome'] as const,
    registers: [this.registry],
  })
  readonly #claimBatches = new Histogram({
    name: 'holdfast_claim_batch_requests',
    help: 'Claim requests that were decided together.',
    buckets: BATCH_SIZES,
    registers: [this.registry],
  })
  readonly #commits = new Histogram({
    name: 'holdfast_store_commit_transactions',
    help: 'Transactions that shared one commit.',
    buckets: BATCH_SIZES,
    registers: [this.registry],
  })
  readonly #retries = new Counter({
    name: 'holdfast_store_retries_total',
    help: 'Transactions started afresh after a conflict.',
    labelNames: ['reason'] as const,
    registers: [this.registry],
  })
  readonly #feedLag = new Histogram({
    name: 'holdfast_feed_lag_seconds',
    help: 'Age of a change made by another process when it was taken in here.',
    buckets: SECONDS,
    registers: [this.registry],
  })
  readonly #authentications = new Counter({
    name: 'holdfast_authentications_total',
    help: 'Proofs of identity that had to be looked into, by kind and by what became of them.',
    labelNames: ['method', 'outcome'] as const,
    registers: [this.registry],
  })
  readonly #launches = new Counter({
    name: 'holdfast_servers_launched_total',
    help: 'Servers that were asked for, by whether there was a place for them.',
    labelNames: ['outcome'] as const,
    registers: [this.registry],
  })
  // Looking a series up by its labels costs more than the observation, so each is looked up once.
  readonly #series = new Map<string, { observe(seconds: number): void }>()

  constructor() {
    collectDefaultMetrics({ register: this.registry })
  }

  request(method: string, route: string, status: number, seconds: number): void {
    const key = `${method} ${route} ${status}`
    const series = this.#series.getOrInsertComputed(key, () =>
      this.#requests.labels({ method, route, status: String(status) }),
    )
    series.observe(seconds)
    if (status === 401 || status === 403) this.#refusals.inc({ method, route, status: String(status) })
  }

  claimBatch(granted: number, refused: number): void {
    this.#claimBatches.observe(granted + refused)
    this.#claims.inc({ outcome: 'granted' }, granted)
    this.#claims.inc({ outcome: 'refused' }, refused)
  }

  authenticated(method: string, outcome: 'granted' | 'refused' | 'throttled' | 'unavailable'): void {
    this.#authentications.inc({ method, outcome })
  }

  committed(transactions: number): void {
    this.#commits.observe(transactions)
  }

  retried(reason: string): void {
    this.#retries.inc({ reason })
  }

  launched(placed: number, unplaced: number): void {
    this.#launches.inc({ outcome: 'placed' }, placed)
    this.#launches.inc({ outcome: 'no_valid_host' }, unplaced)
  }

  feedLag(seconds: number): void {
    this.#feedLag.observe(seconds)
  }

  /** Shows a number that someone else keeps. */
  watch(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read())
      },
    })
  }
}
