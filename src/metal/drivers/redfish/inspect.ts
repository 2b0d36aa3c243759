// Inspection: reads all that a BMC says of its machine. Parts that it doesn't have, or can't show, are left out.
import { atOnce } from '../../../shared/at-once.ts'
import { isObject } from '../../../shared/is-object.ts'
import { limits } from '../../../shared/limits.ts'
import { type Done, HardwareFailure, type Json } from '../port.ts'
import { type Bmc, BmcAway, BmcRefusal, linkIn, type Resource } from './bmc.ts'
import { Budget, TooMuch } from './budget.ts'
import { type Bodies, reportOf, saysAnything } from './inspect-report.ts'
import { devicesOf, isGpu, isHpe, standardFunction } from './hpe.ts'
import type { PciCard } from './inspect-cards.ts'
import { amountIn, listIn, objectIn } from './inspect-values.ts'

export async function inspect(bmc: Bmc): Promise<Done> {
  const reader = new Reader(bmc)
  const found = reportOf(await bodiesOf(bmc, reader))
  if (!saysAnything(found.inventory!)) {
    throw new HardwareFailure('The BMC tells of no processors, memory, disks or network cards.')
  }
  return { ...found, notes: [...found.notes!, ...reader.unread] }
}

async function bodiesOf(bmc: Bmc, reader: Reader): Promise<Bodies> {
  const [root, system] = [await bmc.root(), await bmc.system()]
  const to = (name: string) => linkIn(system.body, name)
  const managers = await reader.attempt('its managers', () => bmc.managers(), [])
  const chassis = await reader.attempt('its chassis', () => bmc.chassis(), [])
  const drives = await drivesOf(reader, to('Storage'))
  const hasSummary = amountIn(objectIn(system.body, 'MemorySummary'), 'TotalSystemMemoryGiB') !== undefined
  const updates = await reader.find(linkIn(root.body, 'UpdateService'))
  const cards = await pciCardsOf(reader, [system, ...chassis])
  return {
    root: root.body,
    system: system.body,
    managers: bodies(managers),
    processors: await reader.members(to('Processors')),
    memory: hasSummary ? [] : bodies(await reader.members(to('Memory'))),
    drives,
    simpleStorage: drives.length > 0 ? [] : bodies(await reader.members(to('SimpleStorage'))),
    interfaces: bodies(await reader.members(to('EthernetInterfaces'))),
    graphics: await reader.members(to('GraphicsControllers')),
    pci: isHpe(root.body) ? cards.map(withStandardIds) : cards,
    gpus: (await reader.all(chassis.map(one => devicesOf(one.body)))).filter(isGpu),
    // Some fail to answer for a machine that boots without UEFI.
    secureBoot: isLegacy(system.body) ? null : ((await reader.find(to('SecureBoot')))?.body ?? null),
    trustedComponents: bodies(await reader.all(chassis.map(one => linkIn(one.body, 'TrustedComponents')))),
    firmware: bodies(await reader.members(linkIn(updates?.body, 'FirmwareInventory'))),
  }
}

const withStandardIds = ({ device, functions }: PciCard): PciCard => ({
  device,
  functions: functions.map(standardFunction),
})

const isLegacy = (system: Json) => objectIn(system, 'Boot')['BootSourceOverrideMode'] === 'Legacy'
const bodies = (resources: readonly Resource[]): Json[] => resources.map(({ body }) => body)
const linksIn = (body: Json, name: string) => listIn(body, name).flatMap(one => linkIn(one) ?? [])

async function drivesOf(reader: Reader, storage: string | null): Promise<Json[]> {
  const controllers = await reader.members(storage)
  return bodies(await reader.each(controllers.flatMap(({ body }) => linksIn(body, 'Drives'))))
}

/** A system lists links; the chassis has a collection, or in old versions links too. */
async function pciCardsOf(reader: Reader, owners: readonly Resource[]): Promise<PciCard[]> {
  const links = owners.flatMap(({ body }) => [
    ...linksIn(body, 'PCIeDevices'),
    ...linksIn(objectIn(body, 'Links'), 'PCIeDevices'),
  ])
  const listed = links.length > 0 ? await reader.each(links) : []
  const devices = listed.length > 0 ? listed : await reader.all(owners.map(({ body }) => linkIn(body, 'PCIeDevices')))
  const cards: PciCard[] = []
  for (const device of devices) {
    const collection = linkIn(device.body, 'PCIeFunctions')
    const functions =
      collection === null
        ? await reader.each(linksIn(objectIn(device.body, 'Links'), 'PCIeFunctions'))
        : await reader.members(collection)
    cards.push({ device, functions: bodies(functions) })
  }
  return cards
}

/** Reads what there is, and remembers what could not be read. */
class Reader {
  readonly unread: string[] = []
  readonly #bmc: Bmc
  readonly #budget = new Budget('the machine')
  #reads = 0
  #awayCount = 0

  constructor(bmc: Bmc) {
    this.#bmc = bmc
  }

  async find(path: string | null): Promise<Resource | null> {
    if (path === null || !this.#mayRead()) return null
    return this.attempt(path, async () => this.#budget.count(await this.#bmc.find(path)), null)
  }

  async members(path: string | null): Promise<Resource[]> {
    if (path === null || !this.#mayRead()) return []
    const found = await this.attempt(path, () => this.#bmc.members(path), [])
    for (const one of found) this.#budget.count(one)
    this.#reads += found.length
    return found
  }

  /** The members of several collections. */
  async all(paths: readonly (string | null)[]): Promise<Resource[]> {
    const found: Resource[] = []
    for (const path of new Set(paths)) found.push(...(await this.members(path)))
    return found
  }

  /** Single resources, each once. */
  async each(paths: readonly string[]): Promise<Resource[]> {
    const found: (Resource | null)[] = []
    const read = async (path: string, at: number) => void (found[at] = await this.find(path))
    await atOnce([...new Set(paths)], read, { width: limits.redfishConnections })
    return found.filter(one => one !== null && isObject(one.body)) as Resource[]
  }

  /** A BMC that refuses a part has the others. One that is away twice is gone. */
  async attempt<T>(what: string, read: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof HardwareFailure) || this.#isOver(error)) throw error
      this.unread.push(`${what} could not be read: ${error.message}`)
      return otherwise
    }
  }

  #isOver(error: HardwareFailure): boolean {
    if (error instanceof BmcAway) return ++this.#awayCount > 1
    if (error instanceof TooMuch) return true
    return error instanceof BmcRefusal && error.status === 401
  }

  #mayRead(): boolean {
    if (this.#reads++ < limits.inspectionReadsMax) return true
    const words = `only the first ${limits.inspectionReadsMax} resources were read`
    if (!this.unread.includes(words)) this.unread.push(words)
    return false
  }
}
