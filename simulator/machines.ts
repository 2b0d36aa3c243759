// The simulated machines: steps take their time, fail, or hang. What really ran is remembered, whoever asked for it.
import { setTimeout as sleep } from 'node:timers/promises'
import { FakeHardware } from '../src/metal/drivers/fake.ts'
import { HardwareFailure, type Machine, type Site, type StepResult, type Task } from '../src/metal/drivers/port.ts'
import { type Drivers, driversOf } from '../src/metal/drivers/registry.ts'
import type { Stream } from './chance.ts'
import type { History } from './history.ts'

/** A step that a machine was told to do. */
export interface Deed {
  node: string
  /** The life of the process that told it, such as p0.2. */
  process: string
  step: string
  began: number
  /** Null while it runs, and for ever if its process died. */
  ended: number | null
  isDone: boolean
}

export const STEP_MS = 2_500

export class Machines {
  /** How often a step fails, and how often it hangs for long. */
  failures = 0
  hangs = 0
  /** How long a step takes at most. */
  stepMs = STEP_MS
  /** All that was done, in the order of its beginning. */
  readonly deeds: Deed[] = []
  readonly #chance: Stream
  readonly #history: History
  /** The clocks of processes are wrong. */
  readonly #now: () => number

  constructor(chance: Stream, history: History, now: () => number) {
    this.#now = now
    this.#chance = chance
    this.#history = history
  }

  driversFor(process: string): Drivers {
    return driversOf(new SimulatedHardware(this, process))
  }

  async work(process: string, { step }: Task, { uuid }: Machine, { signal }: Site): Promise<void> {
    const isHanging = this.#chance.happens(this.hangs)
    const ms = isHanging ? this.#chance.between(10_000, 60_000) : 20 + this.#chance.float() ** 2 * this.stepMs
    const deed: Deed = { node: uuid, process, step, began: this.#now(), ended: null, isDone: false }
    this.deeds.push(deed)
    this.#history.add(process, `${step} begins on ${uuid}`)
    await sleep(ms, null, { signal }).catch(() => {})
    deed.ended = this.#now()
    if (signal.aborted) throw new HardwareFailure('the step was given up')
    if (this.#chance.happens(this.failures)) throw new HardwareFailure(`the machine failed at ${step}`)
    this.#history.add(process, `${step} is done on ${uuid}`)
    deed.isDone = true
  }
}

class SimulatedHardware extends FakeHardware {
  readonly #machines: Machines
  readonly #process: string

  constructor(machines: Machines, process: string) {
    super({ delayMs: 0, pause: ms => sleep(ms) })
    this.#machines = machines
    this.#process = process
  }

  override async run(task: Task, machine: Machine, site: Site): Promise<StepResult> {
    await this.#machines.work(this.#process, task, machine, site)
    return super.run(task, machine, site)
  }
}
