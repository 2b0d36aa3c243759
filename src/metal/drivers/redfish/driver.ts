// The redfish driver: which room does a step, and which one answers a question.
import { inParts, type PlannedPart } from '../parts.ts'
import type { Answer, Question } from '../questions.ts'
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
  type WantedStep,
  unsupported,
} from '../port.ts'
import type { StepName } from '../../nodes/states.ts'
import { answerTo, VENDOR_METHODS } from './answers.ts'
import { biosShown } from './bios.ts'
import { BOOT_DEVICES } from './boot.ts'
import type { MediaHost } from './boot-medium.ts'
import { bootsFrom, cleanParts, deployParts, rebootParts, renewBoot, tearDownParts } from './deploy.ts'
import { wrongDeployment } from './wrong-deployment.ts'
import { explicitParts, requireRepeatable, stepsIn, wrongStep } from './explicit-steps.ts'
import { inspect } from './inspect.ts'
import type { Bmcs } from './pool.ts'
import { readPower, switchPower } from './power.ts'
import { REDFISH_PROPERTIES, wrongWithBmcSettings } from './settings.ts'
import type { Visit } from './visit.ts'

interface Options extends MediaHost {
  bmcs: Pick<Bmcs, 'of' | 'stop'>
  /** Rejects when the signal is aborted. */
  pause: (ms: number, signal: AbortSignal) => Promise<unknown>
}

type Locked = Pick<Site, 'requireLock'>

const or = (name: 'bios' | 'inspect' | 'raid' | 'vendor') => ['redfish', `no-${name}`] as [string, string]

export class RedfishHardware implements Driver {
  readonly name = 'redfish'
  readonly interfaces = {
    bios: or('bios'),
    boot: ['redfish-virtual-media', 'redfish-https'],
    console: ['redfish-graphical', 'no-console'],
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
  readonly properties = {
    ...REDFISH_PROPERTIES,
    boot_iso: 'The URL of the ISO that the machine boots when its instance names none. Optional.',
    kernel: 'The URL of the kernel that the machine boots with `ramdisk` when its instance names nothing. Optional.',
    ramdisk: 'The URL of the ramdisk for `kernel`. Optional.',
    kernel_append_params: 'The parameters of the kernel when its instance has none. Optional.',
  }
  readonly bootDevices = BOOT_DEVICES
  readonly vendorMethods = VENDOR_METHODS
  readonly resumable: readonly StepName[] = ['deploy', 'clean']
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  validate(name: InterfaceName, machine: Machine): string | null {
    if (machine.interfaces[name] === `no-${name}`) return unsupported(this.name, name)
    const wrong = wrongWithBmcSettings(machine)
    if (wrong !== null || (name !== 'deploy' && name !== 'boot')) return wrong
    return wrongDeployment(machine, this.#options)
  }

  validateStep(_: 'deploy' | 'clean', step: WantedStep, machine: Machine): string | null {
    return wrongStep(step, machine)
  }

  async run(task: Task, machine: Machine, site: Site): Promise<StepResult> {
    const visit = this.#visit(machine, site.signal, site)
    const { step, args } = task
    if (step === 'rebooting') return inParts(rebootParts(visit, args['timeout']), site)
    if (isPowerTarget(step)) {
      if (!step.endsWith('power off')) await renewBoot(visit)
      const { timeout } = args
      return done({ powerState: await switchPower(visit.bmc, { target: step, timeout }, visit.pause) })
    }
    if (step === 'verify' || step === 'adopt') {
      return done({ powerState: await readPower(visit.bmc), ...(await biosShown(visit)) })
    }
    if (step === 'inspect' && machine.interfaces.inspect !== 'no-inspect') return done(await inspect(visit.bmc))
    const parts = this.#partsOf(task, visit)
    if (!parts) throw new HardwareFailure(unsupported(this.name, step))
    requireRepeatable(parts, site.part)
    const result = await inParts(parts, site)
    const event = eventOf(step, machine)
    if (event !== null) await site.note({ event })
    return result
  }

  /** The parts of a step; null if this driver doesn't do it in parts. */
  #partsOf({ step, args }: Task, visit: Visit): PlannedPart[] | null {
    switch (step) {
      case 'deploy': {
        const wrong = wrongDeployment(visit.machine, this.#options)
        if (wrong !== null) throw new HardwareFailure(wrong)
        return deployParts(visit, this.#options, explicitParts(visit, stepsIn(args, 'deploy_steps')))
      }
      case 'tearDown':
        return tearDownParts(visit)
      case 'clean':
        return cleanParts(visit, explicitParts(visit, stepsIn(args, 'clean_steps')))
      default:
        return null
    }
  }

  async readPower(machine: Machine, signal: AbortSignal): Promise<PowerState> {
    // Whoever looks at all machines looks again soon, and must not wait long for one that is away.
    return readPower(this.#options.bmcs.of(machine, signal, { tries: 2 }))
  }

  async ask(question: Question, machine: Machine, signal: AbortSignal, site: Locked = {}): Promise<Answer> {
    return answerTo(question, this.#visit(machine, signal, site))
  }

  async stop(): Promise<void> {
    await this.#options.bmcs.stop()
  }

  #visit(machine: Machine, signal: AbortSignal, { requireLock }: Locked): Visit {
    const { bmcs, pause } = this.#options
    return {
      bmc: bmcs.of(machine, signal, requireLock && { requireLock }),
      machine,
      signal,
      pause: async ms => void (await pause(ms, signal)),
    }
  }
}

/** What the node's history says of a step. */
function eventOf(step: Task['step'], machine: Machine): string | null {
  if (step === 'clean') return 'Cleaned: switched off, its media ejected. This driver erases no disks by itself.'
  return step === 'deploy' ? `Deployed: ${bootsFrom(machine)}` : null
}

const done = (found: Done): StepResult => ({ kind: 'done', found })

const isPowerTarget = (step: Task['step']): step is PowerTarget => (POWER_TARGETS as readonly string[]).includes(step)
