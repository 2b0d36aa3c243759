// The lights of a machine: of the system, its chassis and its disks.
import { HardwareFailure, type Json } from '../port.ts'
import type { AnswerTo } from '../questions.ts'
import { type Bmc, linkIn, type Resource } from './bmc.ts'
import { textOf } from './words.ts'

const COMPONENTS = ['system', 'chassis', 'disk'] as const
type Component = (typeof COMPONENTS)[number]

/** The words of the Bare Metal API, and those of Redfish. */
const STATES = [
  ['ON', 'Lit'],
  ['OFF', 'Off'],
  ['BLINKING', 'Blinking'],
] as const

interface Light {
  readonly name: string
  readonly resource: Resource
}

/** IndicatorLED is on its way out, but it alone can blink. */
const hasLed = ({ body }: Resource) => typeof body['IndicatorLED'] === 'string'
const hasLocator = ({ body }: Resource) => typeof body['LocationIndicatorActive'] === 'boolean'

export async function listIndicators(bmc: Bmc): Promise<AnswerTo<'indicators'>> {
  const indicators: Record<string, AnswerTo<'indicators'>['indicators'][string]> = {}
  for (const component of COMPONENTS) {
    const lights = await lightsOf(bmc, component)
    if (lights.length === 0) continue
    indicators[component] = lights.map(({ name, resource }) => ({ name, readonly: false, states: statesOf(resource) }))
  }
  return { indicators }
}

export async function readIndicator(bmc: Bmc, asked: { component: string; name: string }): Promise<{ state: string }> {
  const { resource } = await lightIn(bmc, asked)
  if (!hasLed(resource)) return { state: resource.body['LocationIndicatorActive'] === true ? 'ON' : 'OFF' }
  const state = STATES.find(([, word]) => word === resource.body['IndicatorLED'])
  return { state: state?.[0] ?? 'UNKNOWN' }
}

interface Switched {
  component: string
  name: string
  state: string
}

export async function switchIndicator(bmc: Bmc, { component, name, state }: Switched): Promise<void> {
  const { resource } = await lightIn(bmc, { component, name })
  const word = STATES.find(([known]) => known === state)?.[1]
  if (word === undefined || !statesOf(resource).includes(state)) {
    throw new HardwareFailure(`Indicator ${name} of component ${component} can not be ${state}.`)
  }
  await bmc.patch(
    resource.path,
    hasLed(resource) ? { IndicatorLED: word } : { LocationIndicatorActive: state === 'ON' },
  )
}

const statesOf = (resource: Resource): string[] =>
  STATES.map(([state]) => state).filter(state => hasLed(resource) || state !== 'BLINKING')

async function lightIn(bmc: Bmc, { component, name }: { component: string; name: string }): Promise<Light> {
  const known = COMPONENTS.find(one => one === component)
  const light = known && (await lightsOf(bmc, known)).find(light => light.name === name)
  if (light) return light
  throw new HardwareFailure(`There is no indicator ${name} of component ${component}.`)
}

async function lightsOf(bmc: Bmc, component: Component): Promise<Light[]> {
  const all = await RESOURCES[component](bmc)
  return all.filter(({ resource }) => hasLed(resource) || hasLocator(resource))
}

const RESOURCES: Readonly<Record<Component, (bmc: Bmc) => Promise<Light[]>>> = {
  system: async bmc => named([await bmc.system()]),
  chassis: async bmc => named(await bmc.chassis()),
  disk: async bmc => {
    const found: Light[] = []
    for (const storage of await bmc.members(linkIn((await bmc.system()).body, 'Storage'))) {
      const drives = Array.isArray(storage.body['Drives']) ? (storage.body['Drives'] as unknown[]) : []
      for (const link of drives) {
        const drive = await bmc.find(linkIn(link))
        // The ids of disks are those of one controller.
        if (drive) found.push({ name: `${idOf(storage)}:${idOf(drive)}`, resource: drive })
      }
    }
    return found
  },
}

const idOf = ({ path, body }: { path: string; body: Json }) => textOf(body['Id']) || path.split('/').at(-1)!

const named = (resources: readonly Resource[]): Light[] =>
  resources.map(resource => ({ name: idOf(resource), resource }))
