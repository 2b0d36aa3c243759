// GPUs, accelerators and other PCIe devices. A BMC may list the same card as a processor, as a graphics controller and
// as a PCIe device, and knows something else of it each time.
import type { FoundAccelerator, FoundGpu, FoundPciDevice } from '../report.ts'
import type { Json } from '../port.ts'
import { linkIn, type Resource } from './bmc.ts'
import { amountIn, isThere, known, listIn, objectIn, textIn, total } from './inspect-values.ts'

export interface PciCard {
  device: Resource
  functions: readonly Json[]
}

export interface CardBodies {
  processors: readonly Resource[]
  graphics: readonly Resource[]
  pci: readonly PciCard[]
  /** GPUs in a list that only their maker has. */
  gpus: readonly Resource[]
}

/** A card as one list of the BMC describes it. */
interface Card extends FoundGpu {
  /** The PCIe device that it is. */
  path: string | null
}

/** Screens of BMCs and of virtual machines: nobody computes on them. */
const SCREENS = /aspeed|matrox|g200|\bast\d{4}|cirrus|bochs|qxl|virtio|embedded video/i
const SCREEN_IDS = new Set(['1a03', '102b', '1234', '1013', '1b36', '1af4'])

const MAKERS: Readonly<Record<string, string>> = { '10de': 'NVIDIA', '1002': 'AMD', '8086': 'Intel', '10ee': 'Xilinx' }

export function gpusOf({ processors, graphics, pci, gpus }: CardBodies): FoundGpu[] {
  const ofProcessors = processors.filter(({ body }) => body['ProcessorType'] === 'GPU' && isThere(body))
  const ofGraphics = graphics.filter(({ body }) => isThere(body))
  const ofPci = pci.filter(card => isThere(card.device.body) && card.functions.some(isDisplay))
  const ofMaker = gpus.filter(({ body }) => isThere(body))
  const lists = [ofProcessors.map(cardOf), ofGraphics.map(cardOf), ofPci.map(pciCardOf), ofMaker.map(cardOf)]
  return united(lists.map(withoutScreens))
}

/** FPGAs and other processors that are neither CPU nor GPU, and PCIe devices of that class. */
export function acceleratorsOf({ processors, pci }: CardBodies): FoundAccelerator[] {
  const ofProcessors = processors.filter(({ body }) => ACCELERATORS.has(body['ProcessorType']) && isThere(body))
  const ofPci = pci.filter(card => isThere(card.device.body) && card.functions.some(isAccelerator))
  const typed = (card: Card, type: string) => ({ ...card, type })
  return united([
    ofProcessors.map(one => typed(cardOf(one), one.body['ProcessorType'] as string)),
    ofPci.map(card => typed(pciCardOf(card), 'Accelerator')),
  ])
}

const ACCELERATORS = new Set<unknown>(['FPGA', 'Accelerator', 'DSP', 'TPU'])

export function pciDevicesOf(pci: readonly PciCard[]): FoundPciDevice[] {
  return pci.flatMap(({ device, functions }) =>
    functions.flatMap(one => {
      const [vendor_id, product_id] = [idIn(one['VendorId']), idIn(one['DeviceId'])]
      if (vendor_id === null || product_id === null || one['FunctionType'] === 'Virtual') return []
      return known<FoundPciDevice>({
        vendor_id,
        product_id,
        class: textIn(one, 'DeviceClass', 'ClassCode'),
        name: textIn(device.body, 'Model', 'Name'),
      })
    }),
  )
}

const classOf = (body: Json) => hexIn(body['ClassCode']) ?? ''
const isDisplay = (body: Json) => body['DeviceClass'] === 'DisplayController' || classOf(body).startsWith('03')
const isAccelerator = (body: Json) => body['DeviceClass'] === 'ProcessingAccelerators' || classOf(body).startsWith('12')

/** `0x10DE` as `10de`. */
function hexIn(value: unknown): string | null {
  const [, digits] = typeof value === 'string' ? (/^(?:0x)?([0-9a-f]{4,8})$/i.exec(value.trim()) ?? []) : []
  return digits?.toLowerCase() ?? null
}

/** Nobody has these ids: a BMC that knows none writes them. */
const NO_IDS = new Set(['0000', 'ffff'])
const idIn = (value: unknown) => {
  const id = hexIn(value)
  return id === null || NO_IDS.has(id) ? null : id
}

function cardOf({ body }: Resource): Card {
  const memory =
    amountIn(objectIn(body, 'MemorySummary'), 'TotalMemorySizeMiB') ??
    total(
      listIn(body, 'ProcessorMemory')
        .filter(one => !/cache/i.test(textIn(one, 'MemoryType') ?? ''))
        .map(one => amountIn(one, 'CapacityMiB')),
    )
  return {
    ...known<FoundGpu>({
      vendor: textIn(body, 'Manufacturer'),
      model: textIn(body, 'Model', 'Name'),
      serial: textIn(body, 'SerialNumber'),
      memory_mb: memory,
    }),
    path: linkIn(body, 'Links', 'PCIeDevice') ?? linkIn(listIn(objectIn(body, 'Links'), 'PCIeDevices')[0]),
  }
}

function pciCardOf({ device: { path, body }, functions }: PciCard): Card {
  const { VendorId, DeviceId } = functions.find(one => isDisplay(one) || isAccelerator(one)) ?? {}
  const [vendorId, deviceId] = [idIn(VendorId), idIn(DeviceId)]
  return {
    ...known<FoundGpu>({
      vendor: textIn(body, 'Manufacturer') ?? MAKERS[vendorId ?? ''] ?? vendorId ?? undefined,
      model: textIn(body, 'Model', 'Name') ?? (deviceId === null ? undefined : `${vendorId ?? 'pci'} ${deviceId}`),
      serial: textIn(body, 'SerialNumber'),
    }),
    path,
  }
}

const withoutScreens = (cards: readonly Card[]) =>
  cards.filter(({ vendor = '', model = '' }) => !SCREENS.test(`${vendor} ${model}`) && !SCREEN_IDS.has(vendor))

/**
 * One list of several. Cards of one list are different cards. Those of two lists are the same if their PCIe device or
 * serial number says so, and also if nothing says that they differ: a BMC that lists them twice is the rule.
 */
function united<C extends Card>(lists: readonly (readonly C[])[]): Omit<C, 'path'>[] {
  const all: C[] = []
  for (const list of lists) {
    const open = new Set(all)
    for (const card of list) {
      const twins = [...open]
      const twin = twins.find(one => isSame(one, card)) ?? twins.find(one => !differs(one, card))
      if (twin === undefined) {
        all.push(card)
        continue
      }
      open.delete(twin)
      all[all.indexOf(twin)] = { ...card, ...twin, path: twin.path ?? card.path }
    }
  }
  return all.map(({ path: _, ...card }) => card)
}

const isSame = (one: Card, other: Card) =>
  (one.path !== null && one.path === other.path) || (one.serial !== undefined && one.serial === other.serial)

function differs(one: Card, other: Card): boolean {
  const makers = [one.vendor, other.vendor].map(vendor => vendor?.toLowerCase().match(/[a-z0-9]+/)?.[0])
  return (
    (one.path !== null && other.path !== null && one.path !== other.path) ||
    (one.serial !== undefined && other.serial !== undefined && one.serial !== other.serial) ||
    (makers[0] !== undefined && makers[1] !== undefined && makers[0] !== makers[1])
  )
}
