// A conductor: signs in, takes work, does it through the hardware port, and takes over from those that died.
import type { Logger } from 'pino'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome } from '../../audit/entry.ts'
import { recorded } from '../../audit/record.ts'
import { conductorEntry, type Deed, type Witness } from '../../audit/witness.ts'
import type { Clock } from '../../clock/clock.ts'
import { Duty } from '../../shared/duty.ts'
import { limits } from '../../shared/limits.ts'
import { Problem } from '../../problems/problem.ts'
import { StoreConflict, StoreUnavailable } from '../../store/failure.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Store } from '../../store/store.ts'
import type { Write } from '../../store/transaction.ts'
import { affinityOf } from './rows.ts'
import { HardwareFailure, type Task } from '../drivers/port.ts'
import type { Drivers } from '../drivers/registry.ts'
import type { InspectionRule } from '../nodes/inspection.ts'
import type { NodeRow } from '../nodes/rows.ts'
import { Presence } from './presence.ts'
import { driverOf, workOf } from '../nodes/transitions.ts'
import { machineOf } from '../nodes/validation.ts'
import * as writes from './node-writes.ts'

interface ConductorOptions {
  store: Store
  clock: Clock
  log: Logger
  drivers: Drivers
  rules: readonly InspectionRule[]
  hostname: string
  /** The name was given by the operator, who vouches that no other process has it. */
  isNameGiven: boolean
  group: string
  /** A dead conductor's work is in other hands after this time. */
  takeOverMs: number
  /** What it does is written down. */
  isAudited: boolean
  /** Is told what was taken over from the dead. */
  tookOver: (found: { silent: number; resumed: number; failed: number }) => void
}

const RETRY_MS = 200

export class Conductor {
  readonly witness: Witness
  readonly #options: ConductorOptions
  /** What is under way, by node. */
  readonly #tasks = new Map<NodeId, Promise<void>>()
  readonly #presence: Presence
  readonly #taking: Duty
  /** That it is heard of, and that others are. A duty each: taking over may have to wait for rows that the dead still hold. */
  readonly #watching: readonly Duty[]
  #strayLocks = 0
  #stopped = false

  constructor(options: ConductorOptions) {
    this.#options = options
    this.witness = options.isAudited ? deed => conductorEntry(deed, this.hostname, options.clock.now()) : null
    this.#presence = new Presence({ ...options, drivers: [...options.drivers.keys()], silentMs: this.silentMs })
    const { log } = options
    const every = (pollMs: number, name: string, run: () => Promise<number | null>) =>
      new Duty({ name, pollMs, run, log })
    this.#taking = every(limits.conductorPollMs, 'nodes', () => this.#take())
    this.#watching = [
      every(this.#tickMs, 'heartbeat', () => this.#presence.beat().then(() => null)),
      ...(this.#isAlone ? [] : [every(this.#tickMs, 'node take-over', () => this.#takeOverFromSilent())]),
    ]
  }

  get hostname(): string {
    return this.#presence.hostname
  }

  /** Under which this conductor's work is written down; another one after it was given up. */
  get affinity(): string {
    return affinityOf(this.#presence)
  }

  /** Locks of its own that no task is at, as of the last look. */
  get strayLocks(): number {
    return this.#strayLocks
  }

  /** SQLite has one process, so nobody else is there to be watched or to take over. */
  get #isAlone(): boolean {
    return this.#options.store.dialect === 'sqlite'
  }

  // Silence, the next beat that would have come, and the next look of another add up to less than the bound.
  get silentMs(): number {
    return this.#options.takeOverMs * 0.7
  }

  get #tickMs(): number {
    return this.#options.takeOverMs / (this.#isAlone ? 2 : 10)
  }

  async start(): Promise<void> {
    if (this.#isAlone) await this.#takeOver(-1)
    await this.#presence.signIn()
    await this.#takeOver(this.silentMs)
    for (const duty of this.#watching) duty.wakeLater()
    this.wake()
  }

  /** There may be work. */
  wake(): void {
    void this.#taking.wake()
  }

  /** Takes no more work, lets what is under way finish, and signs off; what is left then is for the others. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const duty of this.#watching) void duty.stop()
    await this.#taking.stop()
    await Promise.race([Promise.all(this.#tasks.values()), sleep(limits.drainMsMax / 2, null, { ref: false })])
    await this.#presence.leave().catch(() => {})
  }

  async #takeOverFromSilent(): Promise<null> {
    if (this.#presence.mayJudgeOthers) await this.#takeOver(this.silentMs)
    return null
  }

  async #takeOver(silentMs: number): Promise<void> {
    const { store, log, clock } = this.#options
    const timing = { silentMs, keepMs: limits.conductorKeepMs, self: this.#presence.incarnation }
    const { silent, resumed, failed } = await store.write(() =>
      recorded(writes.takeOver(timing, clock.now()), this.witness?.({ action: 'take_over', outcome: 'done' })),
    )
    if (silent.length > 0 || resumed + failed > 0)
      log.warn({ silent, resumed, failed }, 'took over from dead conductors')
    this.#options.tookOver({ silent: silent.length, resumed, failed })
    if (resumed > 0) this.wake()
  }

  /** Begins all that is due and that there is room for; says when the next will be due. */
  async #take(): Promise<number | null> {
    const { store, group, drivers } = this.#options
    for (;;) {
      const limit = limits.conductorTasksMax - this.#tasks.size
      const { hostname, incarnation } = this.#presence
      const seeker = { incarnation, group, drivers: [...drivers.keys()], busy: [...this.#tasks.keys()] }
      const { ms, stray } = await store.read(() => writes.workAhead(seeker))
      this.#strayLocks = stray
      if (ms === null || ms > 0) return ms
      // Each task that ends looks for more.
      if (limit <= 0 || this.#stopped) return null
      const nodes = await store.write(() => writes.takeWork({ ...seeker, hostname, limit }))
      for (const node of nodes) this.#begin(node)
      if (nodes.length === 0) return null
    }
  }

  #begin(node: NodeRow): void {
    const task = this.#perform(node).finally(() => {
      this.#tasks.delete(node.id)
      this.wake()
    })
    this.#tasks.set(node.id, task)
  }

  async #perform(taken: NodeRow): Promise<void> {
    const { log } = this.#options
    const facts = { node: taken.uuid, ...writes.describe(workOf(taken)!) }
    try {
      await this.#workOff(taken)
    } catch (error) {
      if (error instanceof writes.LockLost) {
        log.warn(facts, 'the lock is lost; what came of the step is not written')
        return
      }
      log.error({ err: error, ...facts }, 'a task was dropped')
      // The lock is still this conductor's, so it begins the step again: not at once, or it might do nothing else.
      if (!this.#stopped) await sleep(limits.conductorPollMs, null, { ref: false })
    }
  }

  /** Step by step, until the lock is given back. */
  async #workOff(taken: NodeRow): Promise<void> {
    const lock = { node: taken.id, incarnation: taken.lock_incarnation!, term: taken.lock_term }
    const { clock, rules } = this.#options
    const work = workOf(taken)!
    const hasWaited = work.kind === 'provision' && work.resumed
    const turnAt = (node: NodeRow) => ({ ...lock, step: writes.stepOf(workOf(node)!) })
    let node = hasWaited ? await this.#write(() => writes.stepResumes(turnAt(taken), clock.now())) : taken
    while (node.reservation !== null) {
      const before = node
      const turn = turnAt(before)
      try {
        const outcome = await this.#run(before, turn)
        node = await this.#write(() =>
          outcome.kind === 'waiting'
            ? writes.stepWaits(turn, outcome.ms, clock.now())
            : recorded(
                writes.stepDone(turn, outcome.found, rules, clock.now()),
                this.witness?.(deedOf(before, 'done')),
              ),
        )
      } catch (error) {
        if (error instanceof writes.LockLost) throw error
        const reason = this.#reasonOf(error, before)
        node = await this.#write(() =>
          recorded(writes.stepFailed(turn, reason, clock.now()), this.witness?.(deedOf(before, 'failed'))),
        )
      }
    }
  }

  #reasonOf(error: unknown, node: NodeRow): string {
    if (error instanceof HardwareFailure || error instanceof Problem) return error.message
    const facts = { err: error, node: node.uuid, ...writes.describe(workOf(node)!) }
    this.#options.log.error(facts, 'a step failed in a way that it should not have')
    return 'The conductor met an error of its own; its log tells more.'
  }

  async #run(node: NodeRow, { incarnation }: writes.Lock) {
    await this.#requireIncarnation(incarnation)
    const work = workOf(node)!
    const task: Task =
      work.kind === 'power'
        ? { step: work.target, args: work.args, resumed: false }
        : { step: work.steps[work.step]!, args: work.args, resumed: work.resumed }
    return driverOf(node, this.#options.drivers).run(task, machineOf(node))
  }

  /**
   * Others may be at the machine by now if this one was not heard of for long, and a call to hardware can't be taken back.
   * So it first makes itself heard; only if it was given up meanwhile the lock is no longer its own.
   */
  async #requireIncarnation(incarnation: string): Promise<void> {
    while (!this.#isAlone && this.#presence.isLate) {
      try {
        await this.#presence.beat()
      } catch (error) {
        await this.#outlast(error)
      }
    }
    if (incarnation !== this.#presence.incarnation) throw new writes.LockLost()
  }

  /** A lock that can't be given back because the database is away is given back when it answers again. */
  async #write<T>(work: () => Write<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#options.store.write(work)
      } catch (error) {
        await this.#outlast(error)
      }
    }
  }

  /** Waits a moment when the database is away; throws whatever doesn't pass by itself. */
  async #outlast(error: unknown): Promise<void> {
    const isPassing = error instanceof StoreUnavailable || error instanceof StoreConflict
    if (!isPassing || this.#stopped) throw error
    await sleep(RETRY_MS)
  }
}

function deedOf(node: NodeRow, outcome: Outcome): Deed {
  const work = workOf(node)!
  const action = work.kind === 'power' ? 'power' : `${work.verb}:${work.steps[work.step]}`
  return { action, outcome, request: work.request }
}
