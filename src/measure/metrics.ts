// The metrics for Prometheus.
import { type Census, gauges } from './census.ts'
import type { Fleet } from '../metal/nodes/fleet.ts'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { StoreObserver } from '../store/store.ts'

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const LONG_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800]
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64]

/** What was counted since the process began. */
export interface Totals {
  commits: number
  writes: number
  retries: number
  takenOver: { conductors: number; nodes: number; allocations: number }
}

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
  readonly #fallbacks = new Counter({
    name: 'holdfast_store_fallbacks_total',
    help: 'How often the database had lost the end of its log.',
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
  readonly #problems = new Counter({
    name: 'holdfast_problems_total',
    help: 'Refusals and failures that clients were told, by kind.',
    labelNames: ['kind'] as const,
    registers: [this.registry],
  })
  readonly #unreadable = new Counter({
    name: 'holdfast_unreadable_texts_total',
    help: 'Reads of JSON in the database that is damaged, by what should be there: fsck names the rows.',
    labelNames: ['what'] as const,
    registers: [this.registry],
  })
  readonly #allocations = new Histogram({
    name: 'holdfast_allocation_seconds',
    help: 'Time from the request for an allocation to its node, or to the word that there is none.',
    labelNames: ['outcome'] as const,
    buckets: LONG_SECONDS,
    registers: [this.registry],
  })
  readonly #leaseEvents = new Histogram({
    name: 'holdfast_lease_event_late_seconds',
    help: 'How long after its time an event of a lease was done.',
    labelNames: ['event'] as const,
    buckets: LONG_SECONDS,
    registers: [this.registry],
  })
  readonly #eventsTold = new Counter({
    name: 'holdfast_events_told_total',
    help: 'Events that listeners were told, by how they listen.',
    labelNames: ['how'] as const,
    registers: [this.registry],
  })
  readonly #deliveries = new Histogram({
    name: 'holdfast_webhook_delivery_seconds',
    help: 'Time that receivers of webhooks took to answer, by what became of the try.',
    labelNames: ['outcome'] as const,
    buckets: SECONDS,
    registers: [this.registry],
  })
  readonly #takeOvers = new Counter({
    name: 'holdfast_take_overs_total',
    help: 'What was taken over from dead conductors: conductors given up, nodes resumed or failed, allocations.',
    labelNames: ['what'] as const,
    registers: [this.registry],
  })
  readonly #powerLooks = new Histogram({
    name: 'holdfast_power_look_seconds',
    help: 'Time that machines took to say whether they are on, by whether that was the same, changed, or failed.',
    labelNames: ['outcome'] as const,
    buckets: LONG_SECONDS,
    registers: [this.registry],
  })
  // Looking a series up by its labels costs more than the observation, so each is looked up once.
  readonly #series = new Map<string, { observe(seconds: number): void }>()
  #census: () => Promise<void> = async () => {}

  /** `isWhole`: also what there is to say of the whole operating-system process, once for each. */
  constructor({ isWhole = true } = {}) {
    if (isWhole) collectDefaultMetrics({ register: this.registry })
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

  fellBack(): void {
    this.#fallbacks.inc()
  }

  feedLag(seconds: number): void {
    this.#feedLag.observe(seconds)
  }

  unreadable(what: string): void {
    this.#unreadable.inc({ what })
  }

  problem(kind: string): void {
    this.#problems.inc({ kind })
  }

  allocated(outcome: 'active' | 'error', ms: number): void {
    this.#allocations.observe({ outcome }, Math.max(ms, 0) / 1_000)
  }

  leaseEvent(event: string, lateMs: number): void {
    this.#leaseEvents.observe({ event }, Math.max(lateMs, 0) / 1_000)
  }

  eventsTold(how: 'stream' | 'page', count: number): void {
    this.#eventsTold.inc({ how }, count)
  }

  delivered(outcome: 'delivered' | 'failed' | 'interrupted', ms: number): void {
    this.#deliveries.observe({ outcome }, ms / 1_000)
  }

  tookOver(what: 'conductor' | 'node resumed' | 'node failed' | 'allocation', count: number): void {
    this.#takeOvers.inc({ what }, count)
  }

  powerLook(outcome: 'same' | 'changed' | 'failed', ms: number): void {
    this.#powerLooks.observe({ outcome }, ms / 1_000)
  }

  async totals(): Promise<Totals> {
    const [commits, retries, takeOvers] = [
      (await this.#commits.get()).values,
      (await this.#retries.get()).values,
      (await this.#takeOvers.get()).values,
    ]
    const sum = (values: readonly { value: number }[]) => values.reduce((total, { value }) => total + value, 0)
    const of = (end: string) => sum(commits.filter(({ metricName }) => metricName?.endsWith(end)))
    const taken = (...whats: string[]) => sum(takeOvers.filter(({ labels }) => whats.includes(String(labels.what))))
    return {
      commits: of('_count'),
      writes: of('_sum'),
      retries: sum(retries),
      takenOver: {
        conductors: taken('conductor'),
        nodes: taken('node resumed', 'node failed'),
        allocations: taken('allocation'),
      },
    }
  }

  /** Adds a gauge of the nodes in memory, by state. */
  watchNodes(fleet: Fleet): void {
    new Gauge({
      name: 'holdfast_nodes',
      help: 'Nodes by provision state, and whether they are in maintenance.',
      labelNames: ['provision_state', 'maintenance'] as const,
      registers: [this.registry],
      collect() {
        this.reset()
        for (const { provision_state, maintenance } of fleet.nodes()) {
          this.inc({ provision_state, maintenance: maintenance === 1 ? 'true' : 'false' })
        }
      },
    })
  }

  /** Adds the gauges that are counted in the database. */
  watchCensus(census: Census): void {
    const shown = new Map(
      Object.entries(gauges).map(([name, { help, label }]) => {
        return [name, new Gauge({ name, help, labelNames: label ? [label] : [], registers: [this.registry] })]
      }),
    )
    this.#census = async () => {
      const samples = await census.samples()
      // Show nothing rather than an outdated count.
      for (const [name, gauge] of shown) {
        gauge.reset()
        if (gauges[name]!.label === undefined) gauge.remove()
      }
      for (const { name, label, value } of samples ?? []) {
        const labels = label === undefined ? {} : { [gauges[name]!.label!]: label }
        shown.get(name)!.set(labels, value)
      }
    }
  }

  /** All metrics in Prometheus' text format. */
  async text(): Promise<string> {
    await this.#census()
    return this.registry.metrics()
  }

  /** Adds a gauge whose value is read when Prometheus asks. */
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
