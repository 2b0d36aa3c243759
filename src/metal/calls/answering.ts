// Answers questions to machines that any process asked: those whose driver and group this conductor has. Each BMC is
// asked one question at a time, and one that hangs holds up nobody else.
import type { Logger } from 'pino'
import { Duty } from '../../shared/duty.ts'
import { limits } from '../../shared/limits.ts'
import type { CallId } from '../../store/schema/ids.ts'
import type { Store } from '../../store/store.ts'
import { HardwareFailure } from '../drivers/port.ts'
import type { Drivers } from '../drivers/registry.ts'
import { driverOf } from '../nodes/transitions.ts'
import { machineOf } from '../nodes/validation.ts'
import { isRefusal } from '../../problems/problem.ts'
import { driverAsked, wordsOf } from './driver-asked.ts'
import { answerTaken, areAnyOld, type CallAnswer, isAnyToTake, sweepCalls, type Taken, takeCalls } from './rows.ts'

interface AnsweringOptions {
  store: Store
  log: Logger
  drivers: Drivers
  group: string
  /** Changes after others have given this conductor up. */
  incarnation: () => string
}

export class Answering {
  readonly #options: AnsweringOptions
  readonly #busy = new Map<CallId, Promise<void>>()
  readonly #taking: Duty
  readonly #sweeping: Duty
  readonly #stopping = new AbortController()

  constructor(options: AnsweringOptions) {
    this.#options = options
    const { log, store } = options
    const pollMs = limits.conductorPollMs
    this.#taking = new Duty({ name: 'questions to machines', pollMs, run: () => this.#take(), log })
    const sweep = async () => {
      const isAny = await store.read(() => areAnyOld(limits.callKeepMs))
      if (isAny) await store.write(() => sweepCalls(limits.callKeepMs))
      return null
    }
    this.#sweeping = new Duty({ name: 'old questions', pollMs: limits.callSweepMs, run: sweep, log })
  }

  get duties(): readonly Duty[] {
    return [this.#taking, this.#sweeping]
  }

  /** Looks for questions now. */
  wake(): void {
    void this.#taking.wake()
  }

  /** Whoever asked is told that the conductor stopped. */
  async stop(): Promise<void> {
    await this.#taking.stop()
    this.#stopping.abort()
    await Promise.allSettled(this.#busy.values())
    await this.#sweeping.stop()
  }

  async #take(): Promise<null> {
    const { store, group, drivers, incarnation } = this.#options
    for (;;) {
      const limit = limits.callsAtOnce - this.#busy.size
      // One that ends looks for more.
      if (limit <= 0) return null
      const seeker = { incarnation: incarnation(), group, drivers: [...drivers.keys()], busy: [...this.#busy.keys()] }
      if (!(await store.read(() => isAnyToTake(seeker)))) return null
      const taken = await store.write(() => takeCalls({ ...seeker, limit }))
      for (const call of taken) this.#begin(call, seeker.incarnation)
      if (taken.length === 0) return null
    }
  }

  #begin(call: Taken, incarnation: string): void {
    const { log } = this.#options
    const answered = this.#settle(call, incarnation)
      // Nobody has its answer, so it is taken again.
      .catch(error => log.warn({ err: error as unknown, node: call.node.uuid }, 'an answer was not saved'))
      .finally(() => {
        this.#busy.delete(call.id)
        this.wake()
      })
    this.#busy.set(call.id, answered)
  }

  async #settle(call: Taken, incarnation: string): Promise<void> {
    const given = await this.#answer(call)
    await this.#options.store.write(() => answerTaken(call.id, incarnation, given))
  }

  async #answer({ node, question, ms }: Taken): Promise<CallAnswer> {
    const { drivers, log } = this.#options
    try {
      const driver = driverOf(node, drivers)
      return { answer: await driverAsked(driver, question, machineOf(node), { ms, signal: this.#stopping.signal }) }
    } catch (error) {
      if (error instanceof HardwareFailure || isRefusal(error)) return { failure: error.message }
      log.error({ err: error, node: node.uuid, question: wordsOf(question) }, 'a question failed unexpectedly')
      return { failure: 'The conductor met an error of its own; its log tells more.' }
    }
  }
}
