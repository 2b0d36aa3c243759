// Looks now and then whether the database still has its schema, for /readyz, the metrics and the log.
import type { Logger } from 'pino'
import { limits } from '../shared/limits.ts'
import { Runner } from '../shared/runner.ts'
import { faultsInWords, type SchemaReport } from '../store/catalogue/compare.ts'
import { examineSchema } from '../store/catalogue/examine.ts'
import { StoreDamaged, StoreUnavailable } from '../store/failure.ts'
import type { Store } from '../store/store.ts'

interface Options {
  store: Store
  log: Pick<Logger, 'error' | 'info'>
  /** The operator has said that this database is to be served all the same. */
  mayBeDamaged: boolean
  /** The process's stopwatch, in milliseconds. */
  now?: () => number
}

export class SchemaWatch {
  readonly #options: Options
  readonly #looking = new Runner(
    () => this.#look(),
    error => (this.#failure = error),
  )
  #lookedAt = -Infinity
  #failure: unknown = null
  #report: SchemaReport | null = null
  /** What is wrong, as the log was told it. */
  #words: string | null = null

  constructor(options: Options) {
    this.#options = options
  }

  /** How many parts are missing or differ, as of the last look. */
  get faults(): number {
    return this.#report?.faults.length ?? 0
  }

  /** What is wrong, as of the last look; null if nothing is. */
  get words(): string | null {
    return this.#words
  }

  /** Looks now. */
  async look(): Promise<SchemaReport> {
    this.#failure = null
    await this.#looking.run()
    if (this.#failure !== null) throw this.#failure
    return this.#report!
  }

  /** Throws if the database is damaged and the operator hasn't said that it is served all the same. */
  async requireWhole(): Promise<void> {
    const { now = () => performance.now(), mayBeDamaged } = this.#options
    if (now() - this.#lookedAt >= limits.schemaLookMs) await this.look()
    if (this.#words !== null && !mayBeDamaged) throw new StoreDamaged(this.#words)
  }

  async #look(): Promise<void> {
    const { store, log, now = () => performance.now() } = this.#options
    const report = await store.read(() => examineSchema(store.dialect)).catch(unreadable)
    this.#report = report
    this.#lookedAt = now()
    const words = faultsInWords(report)
    if (words === this.#words) return
    this.#words = words
    if (words === null) log.info('the schema of the database is whole again')
    else log.error({ faults: report.faults.map(({ said }) => said) }, words)
  }
}

/** A database that lacks the table of the migrations can't even be compared. */
function unreadable(error: unknown): SchemaReport {
  if (error instanceof StoreUnavailable) throw error
  const said = `can't be compared: ${(error as Error).message}`
  return { isNewer: false, faults: [{ said, part: null }], extras: [], lacksChecksums: false }
}
