// A conductor: signs in, takes work, does it through the hardware port, and takes over from dead conductors.
import type { Logger } from 'pino'
import { setTimeout as sleep } from 'node:timers/promises'
import { recorded } from '../../audit/record.ts'
import { type Witness, witnessOf } from '../../audit/witness.ts'
import type { Clock } from '../../clock/clock.ts'
import { Duty } from '../../shared/duty.ts'
import { Unreadable } from '../../shared/json.ts'
import { limits } from '../../shared/limits.ts'
import { isRefusal } from '../../problems/problem.ts'
import { StoreConflict, StoreUnavailable } from '../../store/failure.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import type { Store } from '../../store/store.ts'
import type { Write } from '../../store/transaction.ts'
import { driverAsked } from '../calls/driver-asked.ts'
import { callDone } from '../calls/done.ts'
import { msLeft } from '../calls/rows.ts'
import { affinityOf } from './rows.ts'
import { HardwareFailure, type Site } from '../drivers/port.ts'
import type { Answer } from '../drivers/questions.ts'
import type { Drivers } from '../drivers/registry.ts'
import type { Inspecting } from '../nodes/after-inspection.ts'
import type { InspectionRule } from '../nodes/inspection.ts'
import type { NodeRow } from '../nodes/rows.ts'
import { deedIn, deedOf, describe } from './deeds.ts'
import { Presence } from './presence.ts'
import { takeOver } from './take-over.ts'
import { takeWork, workAhead } from './taking.ts'
import { taskOf } from './task.ts'
import { driverOf, type Work, workOf } from '../nodes/transitions.ts'
import { machineOf } from '../nodes/validation.ts'
import * as writes from './node-writes.ts'

interface ConductorOptions {
  store: Store
  clock: Clock
  log: Logger
  drivers: Drivers
  rules: readonly InspectionRule[]
  hostname: string
  /** The operator chose the name, and vouches that no other process has it. */
  isNameGiven: boolean
  group: string
  /** Within this time another conductor takes over the work of a dead one. */
  takeOverMs: number
  /** The log names it as the actor. */
  isAudited: boolean
  /** Called with what was taken over from dead conductors. */
  tookOver: (found: { silent: number; resumed: number; failed: number }) => void
}

const RETRY_MS = 200

export class Conductor {
  readonly witness: Witness
  readonly #options: ConductorOptions
  /** The tasks under way, by node. */
  readonly #tasks = new Map<NodeId, Promise<void>>()
  readonly #presence: Presence
  readonly #taking: Duty
  /** Heartbeat and take-over. A duty each: a take-over may have to wait for rows that a dead conductor has locked. */
  readonly #watching: readonly Duty[]
  /** Ends the tasks that the process does not wait for any longer. */
  readonly #stopping = new AbortController()
  /** Ends the tasks whose locks are lost, because others have given this conductor up. */
  #lost = new AbortController()
  #strayLocks = 0
  #stopped = false

  constructor(options: ConductorOptions) {
    this.#options = options
    this.witness = witnessOf(options, () => this.hostname)
    const { witness, silentMs } = this
    this.#presence = new Presence({
      ...options,
      drivers: [...options.drivers.keys()],
      silentMs,
      witness,
      givenUp: () => this.#forget(),
    })
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

  /** How this conductor's work names it. Changes after others have given it up. */
  get affinity(): string {
    return affinityOf(this.#presence)
  }

  /** Changes after others have given this conductor up. */
  get incarnation(): string {
    return this.#presence.incarnation
  }

  /** This conductor's locks without a task, at the last check. */
  get strayLocks(): number {
    return this.#strayLocks
  }

  /** SQLite has one process, so there is no other conductor to watch or to take over. */
  get #isAlone(): boolean {
    return this.#options.store.dialect === 'sqlite'
  }

  // Silence (0.7), the next heartbeat (0.1) and the next check by another (0.1) add up to less than takeOverMs.
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

  /** Looks for work now. */
  wake(): void {
    void this.#taking.wake()
  }

  /** Takes no more work, waits a while for running tasks, and signs off. Other conductors take over what is left. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const duty of this.#watching) void duty.stop()
    await this.#taking.stop()
    await Promise.race([Promise.all(this.#tasks.values()), sleep(limits.drainMsMax / 2, null, { ref: false })])
    this.#stopping.abort()
    await Promise.allSettled([...this.#options.drivers.values()].map(async driver => driver.stop?.()))
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
      recorded(takeOver(timing, this.hostname, clock.now()), this.witness({ action: 'take_over', outcome: 'done' })),
    )
    if (silent.length > 0 || resumed + failed > 0)
      log.warn({ silent, resumed, failed }, 'took over from dead conductors')
    this.#options.tookOver({ silent: silent.length, resumed, failed })
    if (resumed > 0) this.wake()
  }

  /** Starts due work, up to the limit of tasks; returns the milliseconds until the next is due, or null. */
  async #take(): Promise<number | null> {
    const { store, group, drivers } = this.#options
    for (;;) {
      const limit = limits.conductorTasksMax - this.#tasks.size
      const { hostname, incarnation } = this.#presence
      const seeker = { incarnation, group, drivers: [...drivers.keys()], busy: [...this.#tasks.keys()] }
      const { ms, stray } = await store.read(() => workAhead(seeker))
      this.#strayLocks = stray
      if (ms === null || ms > 0) return ms
      // A task that ends looks for more work.
      if (limit <= 0 || this.#stopped) return null
      const nodes = await store.write(() => takeWork({ ...seeker, hostname, limit }))
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
    try {
      await this.#workOff(taken)
    } catch (error) {
      const facts = { node: taken.uuid, ...(error instanceof Unreadable ? {} : describe(workOf(taken)!)) }
      if (error instanceof writes.LockLost) {
        log.warn(facts, 'the lock is lost; the result of the step is not saved')
        return
      }
      log.error({ err: error, ...facts }, 'a task was dropped')
      // The lock is still ours, so the step will start again. The pause prevents a busy loop.
      if (!this.#stopped) await sleep(limits.conductorPollMs, null, { ref: false })
    }
  }

  /** Runs step after step, until the lock is released. */
  async #workOff(taken: NodeRow): Promise<void> {
    const lock = { node: taken.id, incarnation: taken.lock_incarnation!, term: taken.lock_term }
    const { clock } = this.#options
    const work = workOf(taken)!
    const hasWaited = work.kind === 'provision' && work.resumed
    const turnAt = (node: NodeRow) => ({ ...lock, step: writes.stepOf(workOf(node)!) })
    const goesOn = this.witness(deedOf(taken, 'accepted'))
    const resumes = () => recorded(writes.stepResumes(turnAt(taken), clock.now()), goesOn)
    let node = hasWaited ? await this.#write(resumes) : taken
    if (hasWaited && work.callBackBy !== undefined) {
      const reason = `The machine has not called back in time: the node was in state "${taken.provision_state}".`
      const failed = () =>
        recorded(writes.stepFailed(turnAt(node), reason, clock.now()), this.witness(deedOf(taken, 'failed')))
      node = await this.#write(failed)
    }
    while (node.reservation !== null) {
      const before = node
      const turn = turnAt(before)
      try {
        const outcome = await this.#run(before, turn)
        node = await this.#write(() => {
          if (outcome.kind === 'waiting')
            return recorded(
              writes.stepWaits(turn, outcome, this.#inspecting()),
              this.witness(deedOf(before, 'accepted')),
            )
          const done =
            outcome.kind === 'answered'
              ? callDone(turn, outcome.answer, clock.now())
              : writes.stepDone(turn, outcome.found, this.#inspecting())
          return recorded(done, this.witness(deedOf(before, 'done')))
        })
      } catch (error) {
        // A process that stops says nothing of the step: another one goes on with it.
        if (error instanceof writes.LockLost || this.#stopping.signal.aborted) throw error
        // Nor does one that others have given up, nor trouble with the database: then the step starts again.
        if (lock.incarnation !== this.incarnation) throw new writes.LockLost()
        if (isPassing(error)) throw error
        const reason = this.#reasonOf(error, before)
        node = await this.#write(() =>
          recorded(writes.stepFailed(turn, reason, clock.now()), this.witness(deedOf(before, 'failed'))),
        )
      }
    }
  }

  #inspecting(): Inspecting {
    const { clock, rules } = this.#options
    return { rules, now: clock.now(), newUuid: () => clock.newUuid() }
  }

  #reasonOf(error: unknown, node: NodeRow): string {
    if (error instanceof HardwareFailure || isRefusal(error)) return error.message
    const facts = { err: error, node: node.uuid, ...describe(workOf(node)!) }
    this.#options.log.error(facts, 'a step failed with an unexpected error')
    return 'The conductor met an error of its own; its log tells more.'
  }

  async #run(node: NodeRow, turn: writes.Turn) {
    await this.#requireIncarnation(turn.incarnation)
    const work = workOf(node)!
    if (work.kind === 'call') return { kind: 'answered' as const, answer: await this.#ask(work, node, turn) }
    return driverOf(node, this.#options.drivers).run(taskOf(node, work), machineOf(node), this.#siteOf(work, turn))
  }

  async #ask({ call, question }: Work & { kind: 'call' }, node: NodeRow, turn: writes.Turn): Promise<Answer> {
    const { store, drivers } = this.#options
    const ms = await store.read(() => msLeft(call))
    if (ms === 0) throw new HardwareFailure('No conductor was done with it in time.')
    const signal = AbortSignal.any([this.#stopping.signal, this.#lost.signal])
    return driverAsked(driverOf(node, drivers), question, machineOf(node), {
      ms,
      signal,
      requireLock: () => this.#requireIncarnation(turn.incarnation),
    })
  }

  #siteOf(work: Work, turn: writes.Turn): Site {
    const { clock } = this.#options
    return {
      ...(work.kind !== 'call' && work.found && { found: work.found }),
      part: work.kind === 'call' ? 0 : (work.part ?? 0),
      begin: async (index, part, found = {}) => {
        await this.#requireIncarnation(turn.incarnation)
        await this.#write(() => writes.partBegins(turn, index, { ...part, found }, clock.now()))
      },
      requireLock: () => this.#requireIncarnation(turn.incarnation),
      note: async ({ event, severity, output }) => {
        const line = { event, ...(severity === 'error' && { severity }), ...(output !== undefined && { output }) }
        await this.#write(() => writes.noteStep(turn, line, this.witness(deedIn(work, 'accepted'))))
      },
      signal: AbortSignal.any([this.#stopping.signal, this.#lost.signal]),
    }
  }

  #forget(): void {
    this.#lost.abort()
    this.#lost = new AbortController()
  }

  /**
   * After a long silence another conductor may be working on the machine, and a call to hardware can't be undone. So
   * this one sends a heartbeat first. If others have given it up, the lock is lost.
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

  /** Retries while the database is away, so that the lock is released when it is back. */
  async #write<T>(work: () => Write<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#options.store.write(work)
      } catch (error) {
        await this.#outlast(error)
      }
    }
  }

  /** Waits a moment when the database is away or has a conflict; throws all other errors. */
  async #outlast(error: unknown): Promise<void> {
    if (!isPassing(error) || this.#stopped) throw error
    await sleep(RETRY_MS)
  }
}

const isPassing = (error: unknown) => error instanceof StoreUnavailable || error instanceof StoreConflict
