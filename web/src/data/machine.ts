// All about one machine, kept true: asked again when its row changes, at most twice a second.
import { type Accessor, createEffect, createSignal, on, onCleanup } from 'solid-js'
import { ApiError } from '../../../src/client/errors.ts'
import type { MachineInFull } from '../../../src/client/status.ts'
import { serverNow } from './clock.ts'
import { reasonOf } from './doing.ts'
import { fleet } from './fleet.ts'
import { FORBIDDEN } from './forbidden.ts'
import { isLive } from './live.ts'
import { server } from './session.ts'

/** What only the bare metal API knows, for those whom it tells. */
export interface Behind {
  driver: string | null
  conductor: string | null
  /** The address of its BMC. */
  bmc: string | null
  /** The machine's own address, where it has no BMC. */
  address: string | null
  hasConsole: boolean
  /** Where its console can be opened in a browser. */
  console: string | null
  boot: { device: string | null; devices: readonly string[] } | null
  /** What the last inspection found, for those who keep the machine. */
  inventory: Readonly<Record<string, unknown>> | null
}

export interface MachineLooked {
  full: Accessor<MachineInFull | null>
  behind: Accessor<Behind | null>
  isMissing: Accessor<boolean>
  /** Why it can't be shown, if nothing can be. */
  refusal: Accessor<string | null>
  again: () => void
}

const GAP_MS = 500

export function createMachine(ident: Accessor<string>): MachineLooked {
  const [full, setFull] = createSignal<MachineInFull | null>(null)
  const [behind, setBehind] = createSignal<Behind | null>(null)
  const [isMissing, setIsMissing] = createSignal(false)
  const [refusal, setRefusal] = createSignal<string | null>(null)
  let asked = 0
  let askedAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const load = async (): Promise<void> => {
    const number = ++asked
    askedAt = serverNow()
    try {
      const found = await server().machine(ident())
      if (number !== asked) return
      if (isNews(full(), found)) void lookBehind(found)
      setFull(found)
      setIsMissing(false)
      setRefusal(null)
    } catch (error) {
      if (number !== asked) return
      // What was seen stays, unless it is gone.
      if (error instanceof ApiError && error.status === 404) setIsMissing(true)
      else setRefusal(reasonOf(error))
    }
  }
  const again = () => {
    clearTimeout(timer)
    timer = setTimeout(() => void load(), waitMs(askedAt))
  }
  const lookBehind = async ({ machine, verbs }: MachineInFull) => {
    const may = (wanted: string) => verbs.some(({ verb, why_not }) => verb === wanted && why_not !== FORBIDDEN)
    const found = await behindOf(machine.uuid, may('boot'), may('maintenance')).catch(() => null)
    if (machine.uuid === full()?.machine.uuid) setBehind(found)
  }

  createEffect(
    on(ident, () => {
      setFull(null)
      setBehind(null)
      setIsMissing(false)
      setRefusal(null)
      clearTimeout(timer)
      void load()
    }),
  )
  createEffect(on([() => fleet.called(ident()), isLive], again, { defer: true }))
  onCleanup(() => {
    clearTimeout(timer)
    asked++
  })
  return {
    full,
    behind,
    isMissing,
    refusal,
    again: () => {
      again()
      const found = full()
      if (found !== null) void lookBehind(found)
    },
  }
}

/** An inspection changes what is known behind it, too. */
const isNews = (before: MachineInFull | null, now: MachineInFull) =>
  before === null || JSON.stringify(before.hardware) !== JSON.stringify(now.hardware)

const FIELDS = ['driver', 'driver_info', 'conductor', 'extra', 'inspection_finished_at'].concat(
  'console_interface',
  'management_interface',
)

async function behindOf(ident: string, mayBoot: boolean, keepsIt: boolean): Promise<Behind> {
  const { nodes } = server()
  const node = await nodes.show(ident, FIELDS)
  const [info, extra] = [node['driver_info'] ?? {}, node['extra'] ?? {}] as Record<string, unknown>[]
  const boot =
    mayBoot && node['management_interface'] !== 'noop'
      ? await Promise.all([nodes.bootDevice(ident), nodes.bootDevices(ident)]).then(
          ([{ boot_device: device }, devices]) => ({ device, devices }),
          () => null,
        )
      : null
  const isInspected = keepsIt && textIn(node['inspection_finished_at']) !== null
  const inspected = isInspected ? await nodes.inventory(ident).catch(() => null) : null
  return {
    driver: textIn(node['driver']),
    conductor: textIn(node['conductor']),
    bmc: bmcIn(info!),
    address: textIn(info!['address']),
    hasConsole: node['console_interface'] !== 'no-console',
    console: linkIn(info!['console_url']) ?? linkIn(extra!['console_url']),
    boot,
    inventory: inspected?.inventory ?? null,
  }
}

const textIn = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)

/** Drivers call it `ipmi_address`, `redfish_address`, and so on. */
function bmcIn(info: Record<string, unknown>): string | null {
  const name = Object.keys(info).find(key => /^\w+_address$/.test(key))
  return name === undefined ? null : textIn(info[name])
}

/** Only what a browser opens safely. */
export const linkIn = (value: unknown): string | null =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value) ? value : null

/** The clock may be set meanwhile. */
const waitMs = (askedAt: number) => Math.max(0, Math.min(GAP_MS, askedAt + GAP_MS - serverNow()))
