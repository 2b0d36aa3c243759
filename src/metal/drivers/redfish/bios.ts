// The settings of a machine's firmware: read, changed and reset. A change comes into force when the machine starts anew.
import { isObject } from '../../../shared/is-object.ts'
import { limits } from '../../../shared/limits.ts'
import { isScalar } from '../../../shared/scalar.ts'
import { type BiosSetting, type Done, HardwareFailure, type Json } from '../port.ts'
import { type Bmc, BmcRefusal, linkIn, type Resource } from './bmc.ts'
import { switchPower } from './power.ts'
import { until } from './settle.ts'
import type { Visit as FullVisit } from './visit.ts'
import { textOf } from './words.ts'

type Visit = Pick<FullVisit, 'bmc' | 'pause'>

type Value = string | number | boolean | null

async function readBios(bmc: Bmc): Promise<BiosSetting[]> {
  const bios = await biosOf(bmc)
  const known = await registryOf(bmc, textOf(bios.body['AttributeRegistry']))
  return Object.entries(attributesIn(bios))
    .slice(0, limits.biosSettingsMax)
    .filter(([, value]) => value === null || isScalar(value))
    .map(([name, value]) => ({
      name: textOf(name),
      value: value === null ? null : textOf(String(value)),
      ...known.get(name),
    }))
}

/** For a node that is looked at for the first time. A machine is of use without them, too. */
export async function biosShown({ bmc, machine }: Pick<FullVisit, 'bmc' | 'machine'>): Promise<Pick<Done, 'bios'>> {
  if (machine.interfaces.bios === 'no-bios') return {}
  try {
    return { bios: await readBios(bmc) }
  } catch (error) {
    if (error instanceof HardwareFailure) return {}
    throw error
  }
}

/** Puts settings into force: `args.settings` is a list of names and values. */
export async function applyBios({ bmc, pause }: Visit, args: Json): Promise<Done> {
  const wanted = wantedIn(args, attributesIn(await biosOf(bmc)))
  const isSet = async () => different(wanted, attributesIn(await biosOf(bmc)))
  let powerState: Done['powerState']
  if ((await isSet()).length > 0) {
    await writePending(bmc, wanted)
    powerState = await switchPower(bmc, { target: 'rebooting' }, pause)
    await until(isSet, pause)
  }
  return { bios: await readBios(bmc), ...(powerState ? { powerState } : {}) }
}

/** As the factory left it. */
export async function resetBios({ bmc, pause }: Visit): Promise<Done> {
  const bios = await biosOf(bmc)
  const target = targetOf(bios)
  if (target === null) throw new HardwareFailure('The BMC can not reset the settings of the firmware.')
  await postBare(bmc, target)
  const powerState = await switchPower(bmc, { target: 'rebooting' }, pause)
  await until(async () => ((await startedIn(bmc)) ? [] : ['the start of the firmware']), pause)
  return { bios: await readBios(bmc), powerState }
}

async function biosOf(bmc: Bmc): Promise<Resource> {
  const found = await bmc.find(linkIn((await bmc.system()).body, 'Bios'))
  if (found) return found
  throw new HardwareFailure('The BMC does not show the settings of the firmware: the system has no Bios.')
}

const attributesIn = ({ body }: Resource): Record<string, Value> =>
  isObject(body['Attributes']) ? (body['Attributes'] as Record<string, Value>) : {}

/** What is wrong with the arguments of apply_configuration, or null. */
export function wrongSettings({ settings }: Json): string | null {
  const isSetting = (entry: unknown) =>
    isObject(entry) && textOf(entry['name']) !== '' && (isScalar(entry['value']) || entry['value'] === null)
  const isRight = Array.isArray(settings) && settings.length > 0 && settings.every(isSetting)
  return isRight ? null : 'apply_configuration needs settings: a list of objects with name and value'
}

/** Texts become what the setting is now: API clients send `"true"` and `"5"`. */
function wantedIn({ settings }: Json, now: Record<string, Value>): Record<string, Value> {
  const wrong = wrongSettings({ settings })
  if (wrong !== null) throw new HardwareFailure(wrong)
  const given = settings as Json[]
  const unknown = given.map(({ name }) => textOf(name)).filter(name => !Object.hasOwn(now, name))
  if (unknown.length > 0) throw new HardwareFailure(`The firmware has no setting ${unknown.join(', ')}.`)
  return Object.fromEntries(given.map(({ name, value }) => [textOf(name), valueLike(value, now[textOf(name)]!)]))
}

function valueLike(given: unknown, now: Value): Value {
  if (typeof now === 'number' && typeof given === 'string' && given.trim() !== '') return Number(given)
  if (typeof now === 'boolean' && typeof given === 'string') return /^(true|on|yes|1|enabled)$/i.test(given)
  if (typeof now === 'string' && (typeof given === 'number' || typeof given === 'boolean')) return String(given)
  return given as Value
}

const different = (wanted: Record<string, Value>, now: Record<string, Value>) =>
  Object.keys(wanted).filter(name => wanted[name] !== now[name])

/** Into the resource for the next start; what waits there already is not written again. */
async function writePending(bmc: Bmc, wanted: Record<string, Value>): Promise<void> {
  const bios = await biosOf(bmc)
  const settings = isObject(bios.body['@Redfish.Settings']) ? bios.body['@Redfish.Settings'] : {}
  const pending = await bmc.find(linkIn(settings, 'SettingsObject'))
  const missing = different(wanted, pending ? attributesIn(pending) : {})
  if (missing.length === 0) return
  const times = settings['SupportedApplyTimes']
  const isOffered = Array.isArray(times) && times.includes('OnReset')
  const body = {
    Attributes: wanted,
    ...(isOffered ? { '@Redfish.SettingsApplyTime': { ApplyTime: 'OnReset' } } : {}),
  }
  // Dell's BMC makes a task of it, which ends after the restart.
  await bmc.patch((pending ?? bios).path, body, { wait: false })
}

const targetOf = ({ body }: Resource): string | null => {
  const actions = isObject(body['Actions']) ? body['Actions'] : {}
  const reset = actions['#Bios.ResetBios']
  return isObject(reset) ? textOf(reset['target']) || null : null
}

/** Some want a body, though there is nothing to say. */
async function postBare(bmc: Bmc, target: string): Promise<void> {
  try {
    await bmc.post(target, null, { wait: false })
  } catch (error) {
    if (!(error instanceof BmcRefusal) || ![400, 415].includes(error.status)) throw error
    await bmc.post(target, {}, { wait: false })
  }
}

/** Whether the firmware has done its work, as far as the BMC tells; and nothing waits for it. */
async function startedIn(bmc: Bmc): Promise<boolean> {
  const system = await bmc.system()
  const progress = isObject(system.body['BootProgress']) ? textOf(system.body['BootProgress']['LastState']) : ''
  if (progress !== '' && !/^(None|SetupEntered|OEM|OS.*)$/.test(progress)) return false
  const bios = await bmc.find(linkIn(system.body, 'Bios'))
  return bios !== null && Object.keys(attributesIn(bios)).length > 0
}

/** What the BMC's registry says about each setting; empty where it has none. */
async function registryOf(bmc: Bmc, name: string): Promise<Map<string, Omit<BiosSetting, 'name' | 'value'>>> {
  try {
    const registry = name === '' ? null : await registryNamed(bmc, name)
    const entries = isObject(registry?.['RegistryEntries']) ? registry['RegistryEntries']['Attributes'] : []
    const listed = Array.isArray(entries) ? entries.filter(isObject) : []
    return new Map(listed.map(entry => [textOf(entry['AttributeName']), detailsIn(entry)]))
  } catch (error) {
    // The values are worth more than what is said about them.
    if (error instanceof BmcRefusal) return new Map()
    throw error
  }
}

async function registryNamed(bmc: Bmc, name: string): Promise<Json | null> {
  const collection = await bmc.find(linkIn((await bmc.root()).body, 'Registries'))
  const links = Array.isArray(collection?.body['Members']) ? (collection.body['Members'] as unknown[]) : []
  const paths = links.map(link => linkIn(link)).filter(path => path !== null)
  const family = name.replace(/\.v?\d.*$/, '')
  const lastOf = (path: string) => path.replace(/\/+$/, '').split('/').at(-1)!
  const path = paths.find(path => lastOf(path) === name) ?? paths.find(path => lastOf(path).startsWith(family))
  const file = await bmc.find(path ?? null)
  const places = Array.isArray(file?.body['Location']) ? file.body['Location'].filter(isObject) : []
  const place = places.find(({ Language }) => /^(en|default)/i.test(textOf(Language))) ?? places[0]
  return (await bmc.find(textOf(place?.['Uri']) || null))?.body ?? null
}

const numberOrNull = (value: unknown) => (typeof value === 'number' ? value : null)
const flagOrNull = (value: unknown) => (typeof value === 'boolean' ? value : null)

function detailsIn(entry: Json): Omit<BiosSetting, 'name' | 'value'> {
  const values = Array.isArray(entry['Value']) ? entry['Value'].filter(isObject) : null
  return {
    attribute_type: textOf(entry['Type']) || null,
    allowable_values: values && values.map(({ ValueName }) => textOf(ValueName)),
    lower_bound: numberOrNull(entry['LowerBound']),
    upper_bound: numberOrNull(entry['UpperBound']),
    min_length: numberOrNull(entry['MinLength']),
    max_length: numberOrNull(entry['MaxLength']),
    read_only: flagOrNull(entry['ReadOnly']),
    reset_required: flagOrNull(entry['ResetRequired']),
    unique: flagOrNull(entry['IsSystemUniqueProperty']),
  }
}
