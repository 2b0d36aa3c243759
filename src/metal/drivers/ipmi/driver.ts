// The ipmi driver: power, boot device, sensors, event log and serial console, through ipmitool.
import { limits } from '../../../shared/limits.ts'
import { numberIn } from '../../../shared/scalar.ts'
import { inParts, type PlannedPart } from '../parts.ts'
import {
  type Driver,
  HardwareFailure,
  type InterfaceName,
  type Machine,
  POWER_TARGETS,
  type PowerState,
  unsupported,
} from '../port.ts'
import type { Opening, PowerTarget, SerialLine, Site, StepResult, Task } from '../port.ts'
import type { Answer, Question } from '../questions.ts'
import { bootDevice, DEVICES, setBootDevice } from './boot.ts'
import { Ipmitool, type ToolOptions } from './ipmitool.ts'
import { bringTo, type Reach, readPower, switchingTo } from './power.ts'
import { PROPERTIES, settingsIn } from './settings.ts'
import { openSol } from './sol.ts'
import { eventsIn, readingsIn } from './texts.ts'

export class Ipmi implements Driver {
  readonly name = 'ipmi'
  readonly interfaces = {
    bios: ['no-bios'],
    boot: ['ipxe', 'pxe'],
    console: ['ipmitool-socat', 'no-console'],
    deploy: ['ramdisk', 'noop'],
    inspect: ['no-inspect'],
    management: ['ipmitool', 'noop'],
    network: ['noop'],
    power: ['ipmitool'],
    raid: ['no-raid'],
    rescue: ['no-rescue'],
    storage: ['noop'],
    vendor: ['no-vendor'],
  } as const
  readonly properties = PROPERTIES
  readonly bootDevices = DEVICES
  readonly resumable = ['deploy', 'clean'] as const
  readonly #tool: Ipmitool

  constructor(options: ToolOptions) {
    this.#tool = new Ipmitool(options)
  }

  lacks(): string | null {
    return this.#tool.lacks
  }

  validate(name: InterfaceName, { driverInfo, instanceInfo, interfaces }: Machine): string | null {
    if (interfaces[name] === `no-${name}`) return unsupported(this.name, name)
    if (!USES_BMC.has(name)) return null
    const settings = settingsIn(driverInfo)
    if (typeof settings === 'string') return settings
    if (name === 'deploy' && instanceInfo['boot_iso'] !== undefined) {
      return 'instance_info/boot_iso: the ipmi driver has no virtual media. It boots from the network.'
    }
    return null
  }

  async run({ step, args }: Task, machine: Machine, site: Site): Promise<StepResult> {
    const reach = this.#reach(machine, site.signal, site)
    if (isPower(step)) {
      const seconds = numberIn(args['timeout'])
      const timeoutMs = seconds > 0 ? seconds * 1_000 : undefined
      const beforeStart = () => forceBootDevice(reach, machine)
      return inParts(switchingTo(reach, { target: step, timeoutMs, beforeStart }), site)
    }
    switch (step) {
      case 'verify':
      case 'adopt':
        return { kind: 'done', found: { powerState: await readPower(reach) } }
      case 'deploy':
        return inParts(deployment(reach, machine), site)
      case 'tearDown':
        return inParts(tearingDown(reach, machine), site)
      case 'clean':
        return clean(reach, args, site)
      default:
        throw new HardwareFailure(unsupported(this.name, step))
    }
  }

  readPower(machine: Machine, signal: AbortSignal): Promise<PowerState> {
    return readPower(this.#reach(machine, signal))
  }

  async ask(question: Question, machine: Machine, signal: AbortSignal, site: Locked = {}): Promise<Answer> {
    if (question.name === 'validate') return this.#tryOut(machine, signal)
    if (question.name === 'supported_boot_devices') return { supported_boot_devices: DEVICES }
    if (question.name === 'console') {
      return { console: this.validate('console', machine) === null ? { kind: 'stream' } : null }
    }
    const reach = this.#reach(machine, signal, site)
    const { tool, settings } = reach
    switch (question.name) {
      case 'power_state':
        return { power_state: await readPower(reach) }
      case 'boot_device':
        return bootDevice(reach)
      case 'set_boot_device':
        requireManagement(machine)
        await setBootDevice(reach, machine, question.args)
        // Remembered for BMCs that have to be told again before each start.
        return { internal: { boot_device: question.args } }
      case 'sensors':
        return {
          sensors: readingsIn(await tool.run(settings, ['-c', 'sdr', 'list', 'full'], signal, limits.ipmiListMs)),
        }
      case 'events':
        return { events: eventsIn(await tool.run(settings, ['sel', 'elist'], signal, limits.ipmiListMs)) }
      case 'inject_nmi':
        requireManagement(machine)
        await site.requireLock?.()
        await tool.run(settings, ['power', 'diag'], signal)
        return {}
      default:
        throw new HardwareFailure(unsupported(this.name, question.name))
    }
  }

  openConsole(machine: Machine, { takesOver, signal }: Opening): Promise<SerialLine> {
    return openSol(this.#reach(machine, signal), takesOver)
  }

  /** Really asks the BMC. One answer stands for all that goes through it. */
  async #tryOut(machine: Machine, signal: AbortSignal): Promise<Partial<Record<InterfaceName, string | null>>> {
    try {
      await this.readPower(machine, signal)
      return { power: null, management: null }
    } catch (error) {
      if (!(error instanceof HardwareFailure)) throw error
      return { power: error.message, management: error.message }
    }
  }

  #reach({ driverInfo }: Machine, signal: AbortSignal, { requireLock }: Locked = {}): Reach {
    const settings = settingsIn(driverInfo)
    if (typeof settings === 'string') throw new HardwareFailure(settings)
    return { tool: this.#tool, settings, signal, requireLock }
  }
}

type Locked = Pick<Site, 'requireLock'>

const USES_BMC = new Set<InterfaceName>(['power', 'management', 'console', 'boot', 'deploy'])

const isPower = (step: Task['step']): step is PowerTarget => (POWER_TARGETS as readonly string[]).includes(step)

function requireManagement({ interfaces }: Machine): void {
  if (interfaces.management === 'ipmitool') return
  throw new HardwareFailure('The management interface noop of this node changes nothing on the machine.')
}

const networkBoots = ({ interfaces }: Machine) =>
  interfaces.deploy === 'ramdisk' && interfaces.management === 'ipmitool'

/** From the network at every start: what comes then is the choice of the operator's PXE server. */
function deployment(reach: Reach, machine: Machine): PlannedPart[] {
  const on = async () => ({ powerState: await bringTo(reach, 'power on') })
  if (!networkBoots(machine)) return [{ interface: 'power', step: 'power_on', run: on }]
  const bootUp = async (isRepeated: boolean) => {
    // One that went on by itself meanwhile has booted something else.
    if (!isRepeated) await bringTo(reach, 'power off')
    return on()
  }
  return [
    { interface: 'power', step: 'power_off', run: async () => void (await bringTo(reach, 'power off')) },
    {
      interface: 'boot',
      step: 'network_boot',
      run: () => setBootDevice(reach, machine, { boot_device: 'pxe', persistent: true }),
    },
    { interface: 'power', step: 'power_on', run: bootUp },
  ]
}

function tearingDown(reach: Reach, machine: Machine): PlannedPart[] {
  const off = async () => ({ powerState: await bringTo(reach, 'power off') })
  const parts: PlannedPart[] = [{ interface: 'power', step: 'power_off', run: off }]
  if (!networkBoots(machine)) return parts
  const toDisk = () => setBootDevice(reach, machine, { boot_device: 'disk', persistent: true })
  return [...parts, { interface: 'boot', step: 'disk_boot', run: toDisk }]
}

/** Nothing runs on the machine that could erase a disk. It is off, and the history says what was not done. */
async function clean(reach: Reach, args: Task['args'], site: Site): Promise<StepResult> {
  if (Array.isArray(args['clean_steps']) && args['clean_steps'].length > 0) {
    throw new HardwareFailure('The ipmi driver has no clean steps: nothing of ours runs on the machine.')
  }
  const powerState = await bringTo(reach, 'power off')
  await site.note({ event: 'Cleaned: switched off. This driver erases no disks.' })
  return { kind: 'done', found: { powerState } }
}

/** Some BMCs forget a lasting device with each start. */
async function forceBootDevice(reach: Reach, machine: Machine): Promise<void> {
  const { boot_device, persistent } = (machine.driverInternalInfo['boot_device'] ?? {}) as Record<string, unknown>
  if (!reach.settings.forcesBootDevice || typeof boot_device !== 'string' || persistent !== true) return
  await setBootDevice(reach, machine, { boot_device, persistent })
}
