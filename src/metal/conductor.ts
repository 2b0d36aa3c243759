// A conductor: signs in, takes work, does it through the hardware port, and takes over from those that died.
import type { Logger } from 'pino'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome } from '../audit/entry.ts'
import { recorded } from '../audit/record.ts'
import { conductorEntry, type Deed, type Witness } from '../audit/witness.ts'
import type { Clock } from '../clock.ts'
import { limits } from '../limits.ts'
import { Problem } from '../problem.ts'
import { StoreConflict, StoreUnavailable } from '../store/failure.ts'
import type { Store } from '../store/store.ts'
import type { Write } from '../store/transaction.ts'
import { affinityOf, heartbeat, leave, signIn } from './conductors.ts'
import { HardwareFailure, type Task } from './drivers/port.ts'
import type { Drivers } from './drivers/registry.ts'
import type { InspectionRule } from './inspection.ts'
import type { NodeRow } from './nodes.ts'
import { driverOf, type Work, workOf } from './transitions.ts'
import { machineOf } from './validation.ts'
import * as writes from './work.ts'

export interface ConductorOptions {
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
  readonly #tasks = new Set<Promise<void>>()
  readonly #timers: NodeJS.Timeout[] = []
  #hostname: string
  #incarnation: string
  #beatAt = 0
  #due: NodeJS.Timeout | null = null
  #taking: Promise<void> | null = null
  #again = false
  #stopped = false

  constructor(options: ConductorOptions) {
    this.#options = options
    this.witness = options.isAudited ? deed => conductorEntry(deed, this.#hostname, options.clock.now()) : null
    this.#hostname = options.hostname
    this.#incarnation = options.clock.newUuid()
  }

  get hostname(): string {
    return this.#hostname
  }

  /** Under which this conductor's work is written down; another one after it was given up. */
  get affinity(): string {
    return affinityOf({ hostname: this.#hostname, incarnation: this.#incarnation })
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
    await this.#signIn()
    await this.#takeOver(this.silentMs)
    this.#every(this.#tickMs, () => this.#beat())
    if (!this.#isAlone) this.#every(this.#tickMs, () => this.#takeOver(this.silentMs))
    this.#every(limits.conductorPollMs, async () => this.wake())
    this.wake()
  }

  /** There may be work. */
  wake(): void {
    if (this.#stopped) return
    if (this.#taking) {
      this.#again = true
      return
    }
    this.#taking = this.#take()
      .catch(error => this.#options.log.warn({ err: error }, 'the conductor could not look for work'))
      .finally(() => {
        this.#taking = null
        if (this.#again) {
          this.#again = false
          this.wake()
        }
      })
  }

  /** Takes no more work, lets what is under way finish, and signs off; what is left then is for the others. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    if (this.#due) clearTimeout(this.#due)
    await this.#taking
    await Promise.race([Promise.all(this.#tasks), sleep(limits.drainMsMax / 2, null, { ref: false })])
    await this.#options.store.write(() => leave(this.#incarnation)).catch(() => {})
  }

  #every(ms: number, duty: () => Promise<void>): void {
    let isRunning = false
    const run = async () => {
      if (isRunning || this.#stopped) return
      isRunning = true
      try {
        await duty()
      } catch (error) {
        this.#options.log.warn({ err: error }, 'a duty of the conductor failed')
      } finally {
        isRunning = false
      }
    }
    this.#timers.push(setInterval(() => void run(), ms).unref())
  }

  async #signIn(): Promise<void> {
    const { store, drivers, hostname, isNameGiven, group, clock } = this.#options
    const who = { hostname, incarnation: this.#incarnation, group, drivers: [...drivers.keys()] }
    const spare = `${hostname}-${clock.newUuid().slice(0, 8)}`
    this.#beatAt = performance.now()
    this.#hostname = await store.write(() => signIn(who, isNameGiven, this.silentMs, spare))
  }

  /** Says that this conductor lives. A duty of its own: taking over may have to wait for rows that the dead still hold. */
  async #beat(): Promise<void> {
    const { store, log, clock } = this.#options
    const at = performance.now()
    if (await store.write(() => heartbeat(this.#incarnation))) {
      this.#beatAt = at
    } else if (!this.#stopped) {
      log.warn({ hostname: this.#hostname }, 'other conductors had given this one up; it starts anew')
      this.#incarnation = clock.newUuid()
      await this.#signIn()
    }
  }

  async #takeOver(silentMs: number): Promise<void> {
    const { store, log, clock } = this.#options
    const timing = { silentMs, keepMs: limits.conductorKeepMs, self: this.#incarnation }
    const { silent, resumed, failed } = await store.write(() =>
      recorded(writes.takeOver(timing, clock.now()), this.witness?.({ action: 'take_over', outcome: 'done' })),
    )
    if (silent.length > 0 || resumed + failed > 0)
      log.warn({ silent, resumed, failed }, 'took over from dead conductors')
    this.#options.tookOver({ silent: silent.length, resumed, failed })
    if (resumed > 0) this.wake()
  }

  async #take(): Promise<void> {
    const { store, group } = this.#options
    for (;;) {
      const limit = limits.conductorTasksMax - this.#tasks.size
      const ms = await store.read(() => writes.untilNextWork(group))
      if (ms !== null && ms > 0) this.#wakeIn(ms)
      if (ms === null || ms > 0 || limit <= 0 || this.#stopped) return
      const taker = { hostname: this.#hostname, incarnation: this.#incarnation, group, limit }
      const nodes = await store.write(() => writes.takeWork(taker))
      for (const node of nodes) this.#begin(node)
      if (nodes.length === 0) return
    }
  }

  #wakeIn(ms: number): void {
    if (this.#due) clearTimeout(this.#due)
    this.#due = setTimeout(() => this.wake(), Math.min(ms, limits.conductorPollMs)).unref()
  }

  #begin(node: NodeRow): void {
    const task = this.#perform(node).finally(() => {
      this.#tasks.delete(task)
      this.wake()
    })
    this.#tasks.add(task)
  }

  async #perform(taken: NodeRow): Promise<void> {
    const lock = { node: taken.id, incarnation: taken.lock_incarnation!, term: taken.lock_term }
    const { log, clock, rules } = this.#options
    const work = workOf(taken)!
    const facts = { node: taken.uuid, ...writes.describe(work) }
    try {
      const hasWaited = work.kind === 'provision' && work.resumed
      let node = hasWaited ? await this.#write(() => writes.stepResumes(lock, clock.now())) : taken
      while (node.reservation !== null) {
        const before = node
        try {
          const outcome = await this.#run(workOf(before)!, before)
          node = await this.#write(() =>
            outcome.kind === 'waiting'
              ? writes.stepWaits(lock, outcome.ms, clock.now())
              : recorded(
                  writes.stepDone(lock, outcome.found, rules, clock.now()),
                  this.witness?.(deedOf(before, 'done')),
                ),
          )
        } catch (error) {
          if (error instanceof writes.LockLost) throw error
          const known = error instanceof HardwareFailure || error instanceof Problem
          if (!known) log.error({ err: error, ...facts }, 'a step failed in a way that it should not have')
          const reason = known ? error.message : 'The conductor met an error of its own; its log tells more.'
          node = await this.#write(() =>
            recorded(writes.stepFailed(lock, reason, clock.now()), this.witness?.(deedOf(before, 'failed'))),
          )
        }
      }
    } catch (error) {
      if (error instanceof writes.LockLost) log.warn(facts, 'the lock is lost; what came of the step is not written')
      else log.error({ err: error, ...facts }, 'a task was dropped')
    }
  }

  async #run(work: Work, node: NodeRow) {
    // Without a heartbeat others may be at the machine by now, and a call to hardware can't be taken back.
    if (!this.#isAlone && performance.now() - this.#beatAt > this.silentMs) throw new writes.LockLost()
    const task: Task =
      work.kind === 'power'
        ? { step: work.target, args: work.args, resumed: false }
        : { step: work.steps[work.step]!, args: work.args, resumed: work.resumed }
    return driverOf(node, this.#options.drivers).run(task, machineOf(node))
  }

  /** A lock that can't be given back because the database is away is given back when it answers again. */
  async #write<T>(work: () => Write<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#options.store.write(work)
      } catch (error) {
        const isPassing = error instanceof StoreUnavailable || error instanceof StoreConflict
        if (!isPassing || this.#stopped) throw error
        await sleep(RETRY_MS)
      }
    }
  }
}

function deedOf(node: NodeRow, outcome: Outcome): Deed {
  const work = workOf(node)!
  const action = work.kind === 'power' ? 'power' : `${work.verb}:${work.steps[work.step]}`
  return { action, outcome, request: work.request }
}
