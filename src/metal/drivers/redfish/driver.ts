// The redfish driver: which room does a step, and which one answers a question.
import { inParts, type PlannedPart } from '../parts.ts'
import type { Answer, AnswerTo, Question, QuestionName } from '../questions.ts'
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
import {
  bootDeviceIn,
  BOOT_DEVICES,
  type BootDevice,
  bootModeIn,
  readSecureBoot,
  setBootDevice,
  setBootMode,
  setSecureBoot,
  supportedDevices,
} from './boot.ts'
import { biosShown } from './bios.ts'
import { bootOnce, cleanParts, deployParts, isByHttp, type MediaHost, renewBoot, tearDownParts } from './deploy.ts'
import { wrongDeployment } from './wrong-deployment.ts'
import { readEvents } from './events.ts'
import { explicitParts, requireRepeatable } from './explicit-steps.ts'
import { listIndicators, readIndicator, switchIndicator } from './indicators.ts'
import { hasSlot } from './media.ts'
import type { Bmcs } from './pool.ts'
import { interrupt, readPower, switchPower } from './power.ts'
import { readSensors } from './sensors.ts'
import { REDFISH_PROPERTIES, wrongWithBmcSettings } from './settings.ts'
import type { Visit } from './visit.ts'

interface Options extends MediaHost {
  bmcs: Pick<Bmcs, 'of' | 'stop'>
  /** Rejects when the signal is aborted. */
  pause: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/** Does a question's work. A question without a room is not answered by this driver. */
type Answers = {
  [Name in QuestionName]?: (visit: Visit, args: Extract<Question, { name: Name }>['args']) => Promise<Answer>
}

const ANSWERS: Answers = {
  validate: validateLive,
  power_state: async ({ bmc }) => ({ power_state: await readPower(bmc) }),
  boot_device: async ({ bmc }) => bootDeviceIn(await bmc.system()),
  set_boot_device: async ({ bmc }, { boot_device, persistent }) => {
    const device = deviceOf(boot_device)
    const set = await setBootDevice(bmc, { device, persistent })
    return { internal: bootOnce(persistent && !set.persistent ? device : null) }
  },
  supported_boot_devices: async ({ bmc }) => ({ supported_boot_devices: supportedDevices(await bmc.system()) }),
  boot_mode: async ({ bmc }) => {
    const system = await bmc.system()
    return { boot_mode: bootModeIn(system), secure_boot: await readSecureBoot(bmc, system) }
  },
  set_boot_mode: async ({ bmc }, { boot_mode }) => {
    await setBootMode(bmc, boot_mode)
    return {}
  },
  set_secure_boot: async ({ bmc }, { secure_boot }) => {
    await setSecureBoot(bmc, secure_boot)
    return {}
  },
  inject_nmi: async ({ bmc }) => {
    await interrupt(bmc)
    return {}
  },
  sensors: async ({ bmc }) => ({ sensors: await readSensors(bmc) }),
  indicators: ({ bmc }) => listIndicators(bmc),
  indicator: ({ bmc }, light) => readIndicator(bmc, light),
  set_indicator: async ({ bmc }, light) => {
    await switchIndicator(bmc, light)
    return {}
  },
  events: async ({ bmc }) => ({ events: await readEvents(bmc) }),
}

function deviceOf(word: string): BootDevice {
  const device = BOOT_DEVICES.find(name => name === word)
  if (!device) throw new HardwareFailure(`Driver redfish knows no boot device ${word}.`)
  return device
}

/** Asks the BMC what each interface needs of it. */
async function validateLive({ bmc, machine }: Visit): Promise<AnswerTo<'validate'>> {
  const reason = async (look: () => Promise<string | null>) => {
    try {
      return await look()
    } catch (error) {
      if (error instanceof HardwareFailure) return error.message
      throw error
    }
  }
  const power = await reason(async () => (await readPower(bmc), null))
  // A BMC that is away is not asked again for each interface.
  if (power !== null) return { power, management: power, boot: power }
  const boot = await reason(async () => {
    if (!isByHttp(machine))
      return (await hasSlot(bmc, ['CD', 'DVD'])) ? null : 'The BMC has no virtual media of type CD or DVD.'
    return supportedDevices(await bmc.system()).includes('uefihttp') ? null : 'The BMC offers no boot over HTTP.'
  })
  return { power, management: null, boot }
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
  readonly properties = {
    ...REDFISH_PROPERTIES,
    boot_iso: 'The URL of the ISO that the machine boots when its instance names none. Optional.',
  }
  readonly bootDevices = BOOT_DEVICES
  readonly resumable: readonly StepName[] = ['deploy', 'clean']
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  validate(name: InterfaceName, machine: Machine): string | null {
    if (machine.interfaces[name] === `no-${name}`)
      return `Driver redfish does not support ${name} (disabled or not implemented).`
    const wrong = wrongWithBmcSettings(machine)
    if (wrong !== null || (name !== 'deploy' && name !== 'boot')) return wrong
    return wrongDeployment(machine, this.#options)
  }

  async run(task: Task, machine: Machine, site: Site): Promise<StepResult> {
    const visit = this.#visit(machine, site.signal)
    const { step, args } = task
    if (isPowerTarget(step)) {
      if (!step.endsWith('power off')) await renewBoot(visit)
      const { timeout } = args
      return done({ powerState: await switchPower(visit.bmc, { target: step, timeout }, visit.pause) })
    }
    if (step === 'verify' || step === 'adopt') {
      return done({ powerState: await readPower(visit.bmc), ...(await biosShown(visit)) })
    }
    const parts = this.#partsOf(task, visit)
    if (!parts) throw new HardwareFailure(`Driver redfish does not support ${step} (disabled or not implemented).`)
    requireRepeatable(parts, site.part)
    return inParts(parts, site)
  }

  /** The parts of a step; null if this driver doesn't do it in parts. */
  #partsOf({ step, args }: Task, visit: Visit): PlannedPart[] | null {
    switch (step) {
      case 'deploy': {
        const wrong = wrongDeployment(visit.machine, this.#options)
        if (wrong !== null) throw new HardwareFailure(wrong)
        return deployParts(visit, this.#options, explicitParts(visit, args['deploy_steps']))
      }
      case 'tearDown':
        return tearDownParts(visit)
      case 'clean':
        return cleanParts(visit, explicitParts(visit, args['clean_steps']))
      default:
        return null
    }
  }

  async readPower(machine: Machine, signal: AbortSignal): Promise<PowerState> {
    // Whoever looks at all machines looks again soon, and must not wait long for one that is away.
    return readPower(this.#options.bmcs.of(machine, signal, { tries: 2 }))
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
