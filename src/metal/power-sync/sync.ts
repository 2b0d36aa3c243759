// Looks at the power of all nodes that can be asked, each once in a period, and writes down what it found.
import type { Logger } from 'pino'
import { recorded } from '../../audit/record.ts'
import type { Witness } from '../../audit/witness.ts'
import type { Clock } from '../../clock/clock.ts'
import { Duty } from '../../shared/duty.ts'
import { limits } from '../../shared/limits.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Store } from '../../store/store.ts'
import { HardwareFailure } from '../drivers/port.ts'
import type { Drivers } from '../drivers/registry.ts'
import type { NodeRow } from '../nodes/rows.ts'
import { machineOf } from '../nodes/validation.ts'
import { Lane } from './lane.ts'
import { changeBy, type Finding, hasTurn, turnOf } from './plan.ts'
import { shareOf, watchedOf, writeFinding } from './rows.ts'

type LookOutcome = 'same' | 'changed' | 'failed'

interface PowerSyncOptions {
  store: Store
  clock: Clock
  log: Logger
  drivers: Drivers
  witness: Witness
  group: string
  /** As the conductor is called now. */
  hostname: () => string
  silentMs: number
  periodMs: number
  /** How long a machine may take to answer. */
  lookMs?: number
  observe?: (outcome: LookOutcome, ms: number) => void
}

export class PowerSync {
  readonly duty: Duty
  readonly #options: PowerSyncOptions
  readonly #drivers: readonly string[]
  /** Those who failed last time have a lane of their own: a machine that hangs takes no time from those that answer. */
  readonly #lanes = { well: new Lane(limits.powerLooksMax), ill: new Lane(limits.powerLooksMax) }
  /** The nodes of this conductor, as of the last reading. */
  #share: readonly NodeId[] = []
  #sharedAt = -Infinity
  /** Up to when turns were given, by the stopwatch. */
  #lookedUntil = performance.now()
  /** Failures in a row, and whether a fault was written down. In memory: whoever takes over counts anew. */
  readonly #failures = new Map<NodeId, { inARow: number; isTold: boolean }>()
  readonly #looking = new Set<NodeId>()
  readonly #stopping = new AbortController()

  constructor(options: PowerSyncOptions) {
    const { periodMs, log } = options
    this.#options = options
    this.#drivers = [...options.drivers.values()].filter(driver => 'readPower' in driver).map(driver => driver.name)
    const pollMs = Math.min(Math.max(periodMs / limits.powerTicks, 10), limits.powerTickMsMax)
    this.duty = new Duty({ name: 'power sync', pollMs, run: () => this.#tick(), log })
  }

  /** The nodes of this conductor, and how many of them have had a turn but wait for a free place. */
  get nodes(): number {
    return this.#share.length
  }
  get behind(): number {
    return this.#lanes.well.waiting + this.#lanes.ill.waiting
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.duty.stop()
  }

  /** Looks at all nodes of this conductor now, and resolves when all have answered or failed. */
  async round(): Promise<void> {
    await this.#readShare()
    await this.#lookAt(await this.#due(this.#share))
  }

  /** Begins to look at those whose turn has come. Doesn't wait for them: one machine must not delay the others. */
  async #tick(): Promise<null> {
    const { periodMs } = this.#options
    if (this.#drivers.length === 0) return null
    const [from, to] = [this.#lookedUntil, performance.now()]
    if (to - this.#sharedAt > periodMs / limits.powerSharesPerPeriod) await this.#readShare()
    void this.#lookAt(await this.#due(this.#share.filter(id => hasTurn(turnOf(id, periodMs), from, to, periodMs))))
    this.#lookedUntil = to
    return null
  }

  async #readShare(): Promise<void> {
    const { store, hostname, group, silentMs } = this.#options
    const at = performance.now()
    const looker = { hostname: hostname(), group, drivers: this.#drivers, silentMs }
    this.#share = await store.read(() => shareOf(looker))
    this.#sharedAt = at
    const mine = new Set(this.#share)
    for (const id of this.#failures.keys()) if (!mine.has(id)) this.#failures.delete(id)
  }

  /** The nodes as they are now, without those that are being looked at. */
  async #due(ids: readonly NodeId[]): Promise<NodeRow[]> {
    const due = ids.filter(id => !this.#looking.has(id))
    return due.length === 0 ? [] : this.#options.store.read(() => watchedOf(due))
  }

  async #lookAt(nodes: readonly NodeRow[]): Promise<void> {
    await Promise.all(nodes.map(node => this.#queue(node)))
  }

  /** One look at a time for each node. It is read again when it has waited for its place. */
  async #queue(node: NodeRow): Promise<void> {
    this.#looking.add(node.id)
    const lane = this.#failures.has(node.id) ? this.#lanes.ill : this.#lanes.well
    const hasToWait = lane.isFull
    try {
      await lane.run(async () => {
        if (this.#stopping.signal.aborted) return
        const [now] = hasToWait ? await this.#options.store.read(() => watchedOf([node.id])) : [node]
        if (now) await this.#look(now)
      })
    } catch (error) {
      // The database's trouble, not the machine's. The next period tries again.
      this.#options.log.warn({ err: error, node: node.uuid }, 'the power of a node could not be written down')
    } finally {
      this.#looking.delete(node.id)
    }
  }

  async #look(node: NodeRow): Promise<void> {
    const { store, clock, witness, observe } = this.#options
    const since = performance.now()
    const finding = await this.#ask(node)
    if (finding === null) return
    const outcome = 'failure' in finding ? 'failed' : 'done'
    const failures = outcome === 'failed' ? this.#countFailure(node) : 0
    if (outcome === 'done') this.#failures.delete(node.id)
    const isNews = changeBy(node, finding, failures) !== null
    observe?.(outcome === 'failed' ? 'failed' : isNews ? 'changed' : 'same', performance.now() - since)
    if (!isNews) return
    const entry = witness({ action: 'power_sync', outcome })
    const isTold = await store.write(() => recorded(writeFinding(node, finding, failures, clock.now()), entry))
    if (isTold && outcome === 'failed') this.#failures.set(node.id, { inARow: failures, isTold })
  }

  /** Where someone has ended the maintenance by hand, the machine gets as many tries as at first. */
  #countFailure({ id, fault }: NodeRow): number {
    const before = this.#failures.get(id)
    const isForgiven = before?.isTold === true && fault === null
    const inARow = before === undefined || isForgiven ? 1 : before.inARow + 1
    this.#failures.set(id, { inARow, isTold: !isForgiven && before?.isTold === true })
    return inARow
  }

  /** Null when the process stops. A driver that doesn't heed the signal is left behind all the same. */
  async #ask(node: NodeRow): Promise<Finding | null> {
    const { drivers, log, lookMs = limits.powerLookMs } = this.#options
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, this.#stopping.signal])
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      late.reject(new HardwareFailure(`The machine did not say within ${lookMs / 1_000} s whether it is on.`))
      over.abort()
    }, lookMs)
    try {
      const asked = drivers.get(node.driver)!.readPower!(machineOf(node), signal)
      return { power: await Promise.race([asked, late.promise]) }
    } catch (error) {
      if (this.#stopping.signal.aborted) return null
      if (error instanceof HardwareFailure) return { failure: error.message }
      log.error({ err: error, node: node.uuid }, 'reading the power of a node failed with an unexpected error')
      return { failure: 'The conductor met an error of its own; its log tells more.' }
    } finally {
      clearTimeout(timer)
      late.promise.catch(() => {})
    }
  }
}
