// The questions that this driver answers, each with the room that knows.
import { HardwareFailure, type VendorMethod } from '../port.ts'
import type { Answer, AnswerTo, Question, QuestionName } from '../questions.ts'
import {
  BOOT_DEVICES,
  type BootDevice,
  bootDeviceIn,
  bootModeIn,
  readSecureBoot,
  setBootDevice,
  setBootMode,
  setSecureBoot,
  supportedDevices,
} from './boot.ts'
import { readConsole } from './console.ts'
import { bootOnce, isByHttp } from './deploy.ts'
import { readEvents } from './events.ts'
import { listIndicators, readIndicator, switchIndicator } from './indicators.ts'
import { ejectAll, hasSlot } from './media.ts'
import { interrupt, readPower } from './power.ts'
import { readSensors } from './sensors.ts'
import type { Visit } from './visit.ts'

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
  sensors: async ({ bmc }) => ({ sensors: await readSensors(bmc) }),
  indicators: ({ bmc }) => listIndicators(bmc),
  indicator: ({ bmc }, asked) => readIndicator(bmc, asked),
  set_indicator: async ({ bmc }, wanted) => {
    await switchIndicator(bmc, wanted)
    return {}
  },
  events: async ({ bmc }) => ({ events: await readEvents(bmc) }),
  inject_nmi: async ({ bmc }) => {
    await interrupt(bmc)
    return {}
  },
  console: readConsole,
  vendor: doVendor,
}

/** As upstream has it. Nothing else is needed that all BMCs can do. */
export const VENDOR_METHODS: Readonly<Record<string, VendorMethod>> = {
  eject_vmedia: { http: ['POST'], description: 'Ejects all virtual media.' },
}

async function doVendor({ bmc, machine, pause }: Visit, { method }: { method: string }): Promise<Answer> {
  if (machine.interfaces.vendor === 'no-vendor' || !Object.hasOwn(VENDOR_METHODS, method)) {
    throw new HardwareFailure(`Driver redfish has no method ${method} on this node.`)
  }
  await ejectAll(bmc, pause)
  return {}
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

export async function answerTo({ name, args }: Question, visit: Visit): Promise<Answer> {
  const answer = ANSWERS[name] as ((visit: Visit, args: Question['args']) => Promise<Answer>) | undefined
  if (!answer) throw new HardwareFailure(`Driver redfish does not support ${name}.`)
  return answer(visit, args)
}
