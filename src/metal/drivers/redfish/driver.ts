// The redfish driver: which room does a step, and which one answers a question.
import type { Answer, Question, QuestionName } from '../questions.ts'
import {
  type Done,
  type Driver,
  HardwareFailure,
  type InterfaceName,
  type Machine,
  POWER_TARGETS,
  type PowerState,
  type PowerTarget,
  type Site,
  type StepResult,
  type Task,
} from '../port.ts'
import type { StepName } from '../../nodes/states.ts'
import type { Bmc } from './bmc.ts'
import type { Bmcs } from './pool.ts'
import { interrupt, type Pause, readPower, switchPower } from './power.ts'
import { REDFISH_PROPERTIES, wrongWithBmcSettings } from './settings.ts'

interface Options {
  bmcs: Pick<Bmcs, 'of' | 'stop'>
  /** Rejects when the signal is aborted. */
  pause: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/** A step or a question at one machine. */
interface Visit {
  bmc: Bmc
  machine: Machine
  pause: Pause
}

/** Does a question's work. A question without a room is not answered by this driver. */
type Answers = {
  [Name in QuestionName]?: (visit: Visit, args: Extract<Question, { name: Name }>['args']) => Promise<Answer>
}

const ANSWERS: Answers = {
  power_state: async ({ bmc }) => ({ power_state: await readPower(bmc) }),
  inject_nmi: async ({ bmc }) => {
    await interrupt(bmc)
    return {}
  },
}

const or = (name: 'bios' | 'inspect' | 'raid' | 'vendor') => ['redfish', `no-${name}`] as [string, string]

export class RedfishHardware implements Driver {
  readonly name = 'redfish'
  readonly interfaces = {
    bios: or('bios'),
    boot: ['redfish-virtual-media', 'redfish-https'],
    console: ['no-console'],
    deploy: ['ramdisk'],
    inspect: or('inspect'),
    management: ['redfish'],
    network: ['noop'],
    power: ['redfish'],
    raid: or('raid'),
    rescue: ['no-rescue'],
    storage: ['noop'],
    vendor: or('vendor'),
  } as const
  readonly properties = REDFISH_PROPERTIES
  readonly bootDevices = ['pxe', 'disk', 'cdrom', 'bios', 'uefihttp']
  readonly resumable: readonly StepName[] = ['deploy', 'clean']
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  validate(name: InterfaceName, machine: Machine): string | null {
    if (machine.interfaces[name] === `no-${name}`)
      return `Driver redfish does not support ${name} (disabled or not implemented).`
    return wrongWithBmcSettings(machine)
  }

  async run({ step, args }: Task, machine: Machine, { signal }: Site): Promise<StepResult> {
    const visit = this.#visit(machine, signal)
    if (isPowerTarget(step)) {
      const { timeout } = args
      return done({ powerState: await switchPower(visit.bmc, { target: step, timeout }, visit.pause) })
    }
    if (step === 'verify' || step === 'adopt') return done({ powerState: await readPower(visit.bmc) })
    throw new HardwareFailure(`Driver redfish does not support ${step} (disabled or not implemented).`)
  }

  async readPower(machine: Machine, signal: AbortSignal): Promise<PowerState> {
    // One try: whoever asks by the minute asks again by itself.
    return readPower(this.#options.bmcs.of(machine, signal, { tries: 1 }))
  }

  async ask(question: Question, machine: Machine, signal: AbortSignal): Promise<Answer> {
    const answer = ANSWERS[question.name] as ((visit: Visit, args: Question['args']) => Promise<Answer>) | undefined
    if (!answer) throw new HardwareFailure(`Driver redfish does not support ${question.name}.`)
    return answer(this.#visit(machine, signal), question.args)
  }

  async stop(): Promise<void> {
    await this.#options.bmcs.stop()
  }

  #visit(machine: Machine, signal: AbortSignal): Visit {
    const { bmcs, pause } = this.#options
    return {
      bmc: bmcs.of(machine, signal),
      machine,
      pause: async ms => void (await pause(ms, signal)),
    }
  }
}

const done = (found: Done): StepResult => ({ kind: 'done', found })

const isPowerTarget = (step: Task['step']): step is PowerTarget => (POWER_TARGETS as readonly string[]).includes(step)
