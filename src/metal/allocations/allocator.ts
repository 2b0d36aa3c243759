// Processes a conductor's allocations: proposes nodes from memory, the database decides, and failures get a reason.
import type { Logger } from 'pino'
import type { Outcome } from '../../audit/entry.ts'
import { collected } from '../../audit/collected.ts'
import { recordAll, recorded } from '../../audit/record.ts'
import type { Witness } from '../../audit/witness.ts'
import type { Clock } from '../../clock/clock.ts'
import { type Random, seeded } from '../../clock/chance.ts'
import { textIn, timeOf } from '../../events/subject.ts'
import { releaseLapsed } from '../../ledger/managed.ts'
import { limits } from '../../shared/limits.ts'
import { jsonText } from '../../shared/json.ts'
import { StoreConflict } from '../../store/failure.ts'
import type { AllocationId, ProviderId } from '../../store/schema/ids.ts'
import type { Store } from '../../store/store.ts'
import type { Subject, Write } from '../../store/transaction.ts'
import { allocationsAtWork, isSomeoneWaiting } from './at-work.ts'
import * as writes from './conductor-writes.ts'
import { allocationBecame, type AllocationRow, isAskable, wishesOf, wishOf } from './rows.ts'
import type { Drivers } from '../drivers/registry.ts'
import type { FleetNode } from '../nodes/fleet.ts'
import { keptNodes } from '../holds/lookup.ts'
import { OWNER } from '../nodes/rows.ts'
import { attemptKey, propose, type Supply } from './matching.ts'
import type { Waiting } from '../queue/line.ts'
import { inServingOrder, type QueueRules } from '../queue/order.ts'
import { standingsNow } from '../queue/standings.ts'
import { sentenceOf, whyNot } from './why-not.ts'

interface AllocatorOptions {
  store: Store
  clock: Clock
  log: Logger
  supply: Supply
  drivers: Drivers
  /** Resolves when memory has everything that is committed now; throws if that can't be known. */
  catchUp: () => Promise<void>
  /** The present affinity of this conductor. */
  affinity: () => string
  /** How those who wait are served. */
  rules: QueueRules
  witness: Witness
  /** Called with the duration of each allocation once it is decided. */
  observe: (outcome: 'active' | 'error', ms: number) => void
}

interface Pair {
  row: AllocationRow
  node: FleetNode
}

interface Job {
  row: AllocationRow
  wish: Waiting
  /** A suitable node was busy with a conductor. */
  metLocked: boolean
}

interface Round {
  /** In serving order, with those that wait at other conductors. */
  line: readonly Waiting[]
  /** The pairs that were tried in vain. */
  tried: Set<string>
  /** Those that are decided. */
  served: Set<Waiting>
}

const DAMAGED = 'What it asks for can’t be read: its row in the database is damaged. An operator has to mend it.'

const jobOf = (row: AllocationRow): Job => ({ row, wish: wishOf(row), metLocked: false })

export class Allocator {
  readonly #options: AllocatorOptions
  /** How often each allocation was kept for a retry because a suitable node was busy. */
  #patience = new Map<AllocationId, number>()
  #waiting = 0

  constructor(options: AllocatorOptions) {
    this.#options = options
  }

  /** Whether allocations wait here for a node to become free. */
  get hasWaiting(): boolean {
    return this.#waiting > 0
  }

  /**
   * Gives a new allocation its node in the transaction that creates it: one commit instead of two. Only if the
   * allocation is this conductor's and no other one waits. If it gets no node, the next run decides.
   */
  *attempt(row: AllocationRow, now: number): Write<boolean> {
    const { supply, clock, affinity } = this.#options
    if (row.conductor_affinity !== affinity() || (yield* isSomeoneWaiting())) return false
    const wish = wishOf(row)
    const node = propose(supply, [wish], new Set(), seeded(clock.newSeed())).get(wish)
    if (!node) return false
    const [outcome] = yield* this.#assigned([{ row, node }], row.conductor_affinity, now)
    return outcome === 'granted'
  }

  /** Decides all pending allocations; returns the milliseconds until the next deadline or retry, or null. */
  async run(): Promise<number | null> {
    const { store, clock, affinity } = this.#options
    const self = affinity()
    const { own: asked, others } = await store.read(() => allocationsAtWork(self))
    const [own = [], damaged = []] = [true, false].map(is => asked.filter(row => isAskable(row) === is))
    await this.#refuseDamaged(damaged, self)
    if (own.length === 0) {
      this.#waiting = 0
      return null
    }
    const mine = own.map(jobOf)
    const line = await this.#inOrder([...mine.map(job => job.wish), ...wishesOf(others)])
    const round: Round = { line, tried: new Set(), served: new Set() }
    let left = await this.#assignAll(mine, round, self)
    if (left.length > 0) {
      // Before refusing any: remove expired holds and bring memory up to date.
      const entry = this.#options.witness({ action: 'expire', outcome: 'done' })
      await store.write(() => recorded(releaseLapsed(OWNER, limits.expiryBatchMax, clock.now()), entry))
      await this.#options.catchUp()
      left = await this.#assignAll(left, round, self)
    }
    const now = clock.now()
    const { waiting = [], patient = [], over = [] } = Object.groupBy(left, job => this.#stayOf(job, now))
    this.#patience = new Map(patient.map(({ row }) => [row.id, (this.#patience.get(row.id) ?? 0) + 1]))
    await this.#giveUp(over, self)
    await this.#keepWaiting(
      waiting.filter(({ row }) => row.reasons === null),
      self,
    )
    this.#waiting = waiting.length + patient.length
    const dueIn = waiting.map(({ row }) => row.wait_until! - now)
    if (patient.length > 0) dueIn.push(limits.lockedNodeRetryMs)
    return dueIn.length === 0 ? null : Math.min(...dueIn)
  }

  #stayOf({ row, metLocked }: Job, now: number): 'waiting' | 'patient' | 'over' {
    if (row.wait_until !== null && row.wait_until > now) return 'waiting'
    return metLocked && (this.#patience.get(row.id) ?? 0) < limits.lockedNodeRetriesMax ? 'patient' : 'over'
  }

  async #inOrder(wishes: readonly Waiting[]): Promise<Waiting[]> {
    const standings = wishes.length > 1 ? await this.#options.store.read(standingsNow) : new Map()
    return inServingOrder(wishes, standings, this.#options.rules)
  }

  /** Proposes and assigns until memory has no more nodes for them; returns the jobs without a node. */
  async #assignAll(mine: readonly Job[], { line, tried, served }: Round, self: string): Promise<Job[]> {
    const { supply, clock } = this.#options
    const random: Random = seeded(clock.newSeed())
    let left = [...mine]
    for (;;) {
      const waiting = line.filter(wish => !served.has(wish))
      const proposed = propose(supply, waiting, tried, random)
      const batch = left.filter(job => proposed.has(job.wish)).slice(0, limits.allocationBatchMax)
      if (batch.length === 0) return left
      const outcomes = await this.#assign(batch, proposed, self)
      const granted = batch.filter((_, i) => outcomes[i] === 'granted')
      this.#tell('active', granted)
      const failed = batch.filter((_, i) => outcomes[i] === 'lost' || outcomes[i] === 'locked')
      for (const { wish } of failed) tried.add(attemptKey(wish, proposed.get(wish)!))
      for (const [i, job] of batch.entries()) job.metLocked ||= outcomes[i] === 'locked'
      for (const job of batch) if (!failed.includes(job)) served.add(job.wish)
      left = left.filter(({ wish }) => !served.has(wish))
      await this.#lookAgain(failed.map(({ wish }) => proposed.get(wish)!.provider_id))
    }
  }

  async #assign(
    batch: readonly Job[],
    proposed: ReturnType<typeof propose>,
    self: string,
  ): Promise<writes.AssignResult[]> {
    const { store, clock } = this.#options
    const pairs = batch.map(({ row, wish }) => ({ row, node: proposed.get(wish)! }))
    try {
      return await store.write(() => this.#assigned(pairs, self, clock.now()))
    } catch (error) {
      if (!(error instanceof StoreConflict) || pairs.length === 1) throw error
      // One pair conflicts again and again. Assign each by itself, so that the others needn't wait for it.
      const outcomes: writes.AssignResult[] = []
      for (const pair of pairs) outcomes.push(...(await store.write(() => this.#assigned([pair], self, clock.now()))))
      return outcomes
    }
  }

  *#assigned(pairs: readonly Pair[], self: string, now: number): Write<writes.AssignResult[]> {
    const picks = pairs.map(({ row, node }) => ({ allocation: row.id, node: node.id, provider: node.provider_id }))
    const { value: outcomes, subjects } = yield* collected(writes.assign(picks, self, this.#options.drivers, now))
    const granted = pairs.filter((_, i) => outcomes[i] === 'granted')
    const isOf = ({ id }: Subject, { row, node }: Pair) => id === row.uuid || id === node.uuid
    // What belongs to nobody in particular: holds that were found expired.
    const others = subjects.filter(one => !granted.some(pair => isOf(one, pair)))
    const newsOf = (pair: Pair) => subjects.filter(one => isOf(one, pair)).concat(pair === granted[0] ? others : [])
    yield* this.#recorded(
      granted.map(pair => ({ row: pair.row, subjects: newsOf(pair) })),
      'done',
    )
    return outcomes
  }

  *#recorded(changes: readonly { row: AllocationRow; subjects: readonly Subject[] }[], outcome: Outcome): Write<void> {
    const { witness } = this.#options
    yield* recordAll(
      changes.map(({ row, subjects }) => ({
        entry: witness({ action: 'allocate', outcome, request: row.request_id }),
        subjects,
      })),
    )
  }

  /** Reads nodes again that memory was wrong about. */
  async #lookAgain(providers: readonly ProviderId[]): Promise<void> {
    if (providers.length > 0) await this.#options.supply.fleet.refresh(providers)
  }

  async #giveUp(jobs: readonly Job[], self: string): Promise<void> {
    const { store } = this.#options
    for await (const { some, verdicts, now } of this.#judged(jobs)) {
      const told = { became: 'error', outcome: 'failed' } as const
      const failing = () => this.#toldWhy(some, verdicts, writes.failAllocations(verdicts, self, now), told)
      this.#tell('error', await store.write(failing))
    }
  }

  /** Nobody knows what these ask for. */
  async #refuseDamaged(rows: readonly AllocationRow[], self: string): Promise<void> {
    if (rows.length === 0) return
    const verdicts = rows.map(({ id }): writes.Verdict => ({ allocation: id, error: DAMAGED, reasons: jsonText({}) }))
    const { store, clock } = this.#options
    const now = clock.now()
    const told = { became: 'error', outcome: 'failed' } as const
    const jobs = rows.map(row => ({ row }))
    const failing = () => this.#toldWhy(jobs, verdicts, writes.failAllocations(verdicts, self, now), told)
    this.#tell('error', await store.write(failing))
  }

  /** Says once of each that it has to wait, and why. */
  async #keepWaiting(jobs: readonly Job[], self: string): Promise<void> {
    const { store } = this.#options
    for await (const { some, verdicts } of this.#judged(jobs)) {
      const told = { became: 'waiting', outcome: 'accepted' } as const
      await store.write(() => this.#toldWhy(some, verdicts, writes.keepWaiting(verdicts, self), told))
    }
  }

  /** Finds out why jobs get no node, some of them at a time. */
  async *#judged(jobs: readonly Job[]) {
    const { store, clock, supply } = this.#options
    if (jobs.length === 0) return
    const kept = await store.read(() => keptNodes(clock.now()))
    for (let first = 0; first < jobs.length; first += limits.allocationBatchMax) {
      const now = clock.now()
      const some = jobs.slice(first, first + limits.allocationBatchMax)
      const verdicts = some.map(({ row, wish }): writes.Verdict => {
        const reasons = whyNot(supply, wish, kept, now)
        return { allocation: row.id, error: sentenceOf(row.uuid, wish, reasons), reasons: jsonText(reasons) }
      })
      yield { some, verdicts, now }
    }
  }

  /** Runs the work, which says to which jobs the verdicts apply, and records those. */
  *#toldWhy<One extends Pick<Job, 'row'>>(
    jobs: readonly One[],
    verdicts: readonly writes.Verdict[],
    work: Write<ReadonlySet<AllocationId>>,
    { became, outcome }: { became: 'error' | 'waiting'; outcome: Outcome },
  ): Write<One[]> {
    const ids = yield* work
    const states = { from: 'allocating', to: became === 'error' ? 'error' : 'allocating' }
    const subjectOf = (row: AllocationRow) => {
      const reason = textIn(verdicts.find(({ allocation }) => allocation === row.id)!.error)
      return allocationBecame(row, became, { ...states, reason, wait_until: timeOf(row.wait_until) })
    }
    const those = jobs.filter(({ row }) => ids.has(row.id))
    yield* this.#recorded(
      those.map(({ row }) => ({ row, subjects: [subjectOf(row)] })),
      outcome,
    )
    return those
  }

  #tell(outcome: 'active' | 'error', jobs: readonly Pick<Job, 'row'>[]): void {
    const now = this.#options.clock.now()
    for (const { row } of jobs) this.#options.observe(outcome, now - (row.updated_at ?? row.created_at))
  }
}
