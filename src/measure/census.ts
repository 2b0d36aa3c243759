// Counts objects for the metrics: in one read, when someone asks and the last count is old. All processes of one
// database count the same objects, so the cost must not grow with the number of requests.
import { auditGauges, countUnsealed } from '../audit/census.ts'
import { computeGauges, countServers } from '../compute/census.ts'
import type { Gauges, Sample } from '../shared/gauges.ts'
import { countLeases, leaseGauges } from '../leases/census.ts'
import { limits } from '../shared/limits.ts'
import { countMetal, metalGauges } from '../metal/census.ts'
import type { Store } from '../store/store.ts'
import type { Read } from '../store/transaction.ts'
import { countWebhooks, webhookGauges } from '../webhooks/census.ts'

export const gauges: Gauges = { ...metalGauges, ...leaseGauges, ...computeGauges, ...auditGauges, ...webhookGauges }

interface CensusOptions {
  store: Store
  now: () => number
  /** A conductor without a heartbeat for this long counts as silent. */
  silentMs: number
}

interface Count {
  samples: readonly Sample[]
  at: number
}

export class Census {
  readonly #options: CensusOptions
  #last: Count | null = null
  #counting: Promise<void> | null = null
  #notBefore = 0

  constructor(options: CensusOptions) {
    this.#options = options
  }

  /** The newest count; null when there is no fresh one, for example because the database is away. */
  async samples(): Promise<readonly Sample[] | null> {
    if (performance.now() >= this.#notBefore) this.#counting ??= this.#count().finally(() => (this.#counting = null))
    if (this.#counting) await Promise.race([this.#counting, patience()])
    const isFresh = this.#last !== null && performance.now() - this.#last.at < limits.censusKeepMs
    return isFresh ? this.#last!.samples : null
  }

  async #count(): Promise<void> {
    const { store, now, silentMs } = this.#options
    const began = performance.now()
    try {
      this.#last = { samples: await store.read(() => countAll(silentMs, now())), at: began }
    } catch {
      // The database is away. Others report that.
    }
    const ended = performance.now()
    this.#notBefore = ended + Math.max(limits.censusMs, (ended - began) * limits.censusRest)
  }
}

function* countAll(silentMs: number, now: number): Read<Sample[]> {
  return [
    ...(yield* countMetal(silentMs, now)),
    ...(yield* countLeases(now)),
    ...(yield* countServers()),
    ...(yield* countUnsealed()),
    ...(yield* countWebhooks(now)),
  ]
}

const patience = () => new Promise(resolve => setTimeout(resolve, limits.censusWaitMs).unref())
