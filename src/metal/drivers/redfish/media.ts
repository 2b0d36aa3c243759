// Virtual media: the slots of a machine, what is in them, and how each kind of BMC wants it inserted and ejected.
import { limits } from '../../../shared/limits.ts'
import { HardwareFailure, type Json } from '../port.ts'
import { type Bmc, BmcRefusal, linkIn, type Resource } from './bmc.ts'
import { textIn } from './inspect-values.ts'
import type { Pause } from './power.ts'

/** The slots of the system, else those of its managers. */
async function slotsOf(bmc: Bmc): Promise<Resource[]> {
  const own = await bmc.members(linkIn((await bmc.system()).body, 'VirtualMedia'))
  if (own.length > 0) return own
  const theirs = await Promise.all((await bmc.managers()).map(({ body }) => bmc.members(linkIn(body, 'VirtualMedia'))))
  return theirs.flat()
}

const nameOf = ({ path }: Resource) => path.split('/').at(-1)!

/** What may be put into a slot. The schema lets a BMC leave that out: then a name such as `CD1` says it. */
function typesOf(slot: Resource): unknown[] {
  const types: unknown = slot.body['MediaTypes']
  if (Array.isArray(types) && types.length > 0) return types
  return /^(cd|dvd)/i.test(nameOf(slot)) ? ['CD', 'DVD'] : []
}

/** Some BMCs keep the name of what they had: only Inserted and ConnectedVia are believed. */
const isLoaded = ({ body }: Resource) =>
  body['Inserted'] !== false &&
  body['ConnectedVia'] !== 'NotConnected' &&
  (body['Inserted'] === true || textIn(body, 'Image') !== undefined)

const holds = (slot: Resource, url: string) => isLoaded(slot) && slot.body['Image'] === url

interface Medium {
  url: string
  /** How messages call it: its URL may be a secret. */
  called: string
  /** Kinds of slots that will do, the best first. */
  types: readonly string[]
}

/**
 * Inserts a medium into the first slot that takes it, and believes it when the BMC says that it is connected. If a slot
 * has it already, nothing is done.
 */
export async function insertMedium(bmc: Bmc, medium: Medium, pause: Pause): Promise<void> {
  const slots = await slotsOf(bmc)
  if (slots.some(slot => holds(slot, medium.url))) return
  const able = [...new Set(medium.types.flatMap(type => slots.filter(slot => typesOf(slot).includes(type))))]
  const free = able.filter(slot => !isLoaded(slot))
  const refusals: string[] = []
  for (const slot of free) {
    const refusal = await refusalOf(() => insertInto(bmc, slot, medium.url, pause))
    if (refusal === null) return connected(bmc, slot, medium, pause)
    refusals.push(`${nameOf(slot)}: ${refusal.replaceAll(medium.url, medium.called)}`)
  }
  if (refusals.length > 0) throw new HardwareFailure(`The BMC does not take ${medium.called}. ${refusals.join(' ')}`)
  const kinds = medium.types.join(' or ')
  throw new HardwareFailure(
    able.length > 0
      ? `The BMC has no free slot for ${medium.called}: other media are in ${able.map(nameOf).join(', ')}.`
      : `The BMC has no slot for ${medium.called}: it needs virtual media of type ${kinds}.`,
  )
}

export const hasSlot = async (bmc: Bmc, types: readonly string[]): Promise<boolean> =>
  (await slotsOf(bmc)).some(slot => typesOf(slot).some(type => types.includes(String(type))))

/** Null when it was done; what the BMC said when another slot may do. */
async function refusalOf(work: () => Promise<void>): Promise<string | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (error instanceof BmcRefusal && [400, 404, 405, 501].includes(error.status)) return error.message
    throw error
  }
}

/** What a BMC may miss in the simplest order; its error names it. */
const wishesOf = (url: string): readonly [RegExp, Json][] => [
  [/TransferProtocolType/, { TransferProtocolType: url.startsWith('https:') ? 'HTTPS' : 'HTTP' }],
  [/TransferMethod/, { TransferMethod: 'Stream' }],
  [/UserName|Password/, { UserName: 'none', Password: 'none' }],
]

async function insertInto(bmc: Bmc, slot: Resource, url: string, pause: Pause): Promise<void> {
  const target = actionOf(slot, 'InsertMedia')
  if (target === null) return bmc.patch(slot.path, { Image: url, Inserted: true, WriteProtected: true })
  let order: Json = { Image: url }
  for (let tries = 1; ; tries++) {
    try {
      await bmc.post(target, order)
      return
    } catch (error) {
      if (!(error instanceof BmcRefusal)) throw error
      const said = error.message.replaceAll(url, '')
      const wish = wishesOf(url).find(
        ([name, members]) => name.test(said) && !Object.keys(members).every(key => key in order),
      )
      if (error.status === 400 && wish) order = { ...order, ...wish[1] }
      else if (error.status < 500 || error.status === 501 || tries >= limits.mediaTries) throw error
      else await pause(limits.mediaPauseMs)
    }
  }
}

/** Looks until the medium is there: some BMCs fetch it after they have answered. */
async function connected(bmc: Bmc, { path }: Resource, { called }: Medium, pause: Pause): Promise<void> {
  for (let looks = 1; !isLoaded(await bmc.get(path)); looks++) {
    if (looks >= limits.mediaLooks) {
      throw new HardwareFailure(
        `The BMC took ${called} but has not connected it. Can it reach the address, and is its virtual media switched on?`,
      )
    }
    await pause(limits.mediaPauseMs)
  }
}

/** Ejects what is in any slot. */
export async function ejectAll(bmc: Bmc, pause: Pause): Promise<void> {
  for (const slot of await slotsOf(bmc)) await eject(bmc, slot, pause)
}

async function eject(bmc: Bmc, slot: Resource, pause: Pause): Promise<void> {
  let now = slot
  for (let looks = 1; isLoaded(now); looks++) {
    if (looks > limits.mediaLooks) {
      throw new HardwareFailure(`Virtual media ${nameOf(slot)} is still inserted after it was ejected.`)
    }
    // A BMC that needs a while is told once more only in the middle of it.
    if (looks === 1 || looks === Math.ceil(limits.mediaLooks / 2)) await sendEject(bmc, now)
    else await pause(limits.mediaPauseMs)
    now = await bmc.get(slot.path)
  }
}

/** An error is fine if the slot is empty afterwards. */
async function sendEject(bmc: Bmc, slot: Resource): Promise<void> {
  const target = actionOf(slot, 'EjectMedia')
  try {
    if (target === null) await bmc.patch(slot.path, { Image: null, Inserted: false })
    else await postEject(bmc, target)
  } catch (error) {
    if (!(error instanceof BmcRefusal) || isLoaded(await bmc.get(slot.path))) throw error
  }
}

/** Without a body, as most want it; some want an empty object. */
async function postEject(bmc: Bmc, target: string): Promise<void> {
  try {
    await bmc.post(target, null)
  } catch (error) {
    if (!(error instanceof BmcRefusal) || (error.status !== 400 && error.status !== 415)) throw error
    await bmc.post(target, {})
  }
}

function actionOf({ body }: Resource, name: 'InsertMedia' | 'EjectMedia'): string | null {
  const action = (body['Actions'] as Json | undefined)?.[`#VirtualMedia.${name}`] as Json | undefined
  return typeof action?.['target'] === 'string' ? action['target'] : null
}
