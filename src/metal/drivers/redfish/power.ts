// Power: what the machine is told, and what it then really does.
import { limits } from '../../../shared/limits.ts'
import { HardwareFailure, type Json, type PowerState, type PowerTarget } from '../port.ts'
import { type Bmc, BmcRefusal, linkIn, type Resource } from './bmc.ts'

/** Waits; throws when the task is to end. */
export type Pause = (ms: number) => Promise<void>

/** The words of Redfish. A machine on its way counts as being there, as upstream has it. */
const STATES: ReadonlyMap<unknown, PowerState> = new Map(
  Object.entries({
    On: 'power on',
    PoweringOn: 'power on',
    Paused: 'power on',
    Off: 'power off',
    PoweringOff: 'power off',
  } as const),
)

function powerIn({ body }: Resource): PowerState {
  const state = STATES.get(body['PowerState'])
  if (state) return state
  throw new HardwareFailure(`The BMC does not say whether the machine is on: its PowerState is ${said(body)}.`)
}

const said = ({ PowerState: state = null }: Json) =>
  typeof state === 'object' ? (state === null ? 'null' : 'no text') : JSON.stringify(state).slice(0, 100)

export const readPower = async (bmc: Bmc): Promise<PowerState> => powerIn(await bmc.system())

interface PowerOrder {
  target: PowerTarget
  /** The seconds that the caller gave the machine for it. */
  timeout?: unknown
}

type Switch = (bmc: Bmc, pause: Pause, patienceMs: number | null) => Promise<PowerState>

const SWITCHES: Readonly<Record<PowerTarget, Switch>> = {
  'power on': switchOn,
  'power off': switchOff,
  rebooting: async (bmc, pause, patienceMs) => {
    await switchOff(bmc, pause, patienceMs)
    return switchOn(bmc, pause, patienceMs)
  },
  'soft power off': shutDown,
  'soft rebooting': restart,
}

/** Switches the machine and waits until it is so. What is so already is left alone. */
export async function switchPower(bmc: Bmc, { target, timeout }: PowerOrder, pause: Pause): Promise<PowerState> {
  return SWITCHES[target](bmc, pause, msOf(timeout))
}

/** The caller's seconds; null: the usual time. */
export const msOf = (timeout: unknown): number | null => (typeof timeout === 'number' ? timeout * 1_000 : null)

export async function switchOn(bmc: Bmc, pause: Pause, patienceMs: number | null = null): Promise<PowerState> {
  const system = await bmc.system()
  if (powerIn(system) === 'power on') return 'power on'
  const type = await offered(bmc, system, ['On', 'ForceOn'])
  for (let tries = 1; ; tries++) {
    try {
      await reset(bmc, system, type)
      break
    } catch (error) {
      if (!isConflict(error)) throw error
      if ((await readPower(bmc)) === 'power on') break
      // Some BMCs refuse for a while after the machine went off.
      if (error.status !== 409 || tries >= limits.powerOnTries) throw error
      await pause(limits.powerOnPauseMs)
    }
  }
  return settled(bmc, 'power on', { pause, ms: patienceMs ?? limits.powerMsMax })
}

export async function switchOff(bmc: Bmc, pause: Pause, patienceMs: number | null = null): Promise<PowerState> {
  const system = await bmc.system()
  if (powerIn(system) === 'power off') return 'power off'
  await resetUnless(bmc, system, await offered(bmc, system, ['ForceOff']), 'power off')
  return settled(bmc, 'power off', { pause, ms: patienceMs ?? limits.powerMsMax })
}

/** Asks the operating system. It is never forced: what it is doing may matter. */
async function shutDown(bmc: Bmc, pause: Pause, patienceMs: number | null): Promise<PowerState> {
  const system = await bmc.system()
  if (powerIn(system) === 'power off') return 'power off'
  await resetUnless(bmc, system, await offered(bmc, system, ['GracefulShutdown']), 'power off')
  return settled(bmc, 'power off', { pause, ms: patienceMs ?? limits.softPowerMsMax, isSoft: true })
}

async function restart(bmc: Bmc, pause: Pause, patienceMs: number | null): Promise<PowerState> {
  const system = await bmc.system()
  // A restart of a machine that is off does nothing, and says so to nobody.
  if (powerIn(system) === 'power off') return switchOn(bmc, pause, patienceMs)
  const types = await typesOf(bmc, system)
  if (types && !types.includes('GracefulRestart')) {
    await shutDown(bmc, pause, patienceMs)
    return switchOn(bmc, pause)
  }
  await reset(bmc, system, 'GracefulRestart')
  return settled(bmc, 'power on', { pause, ms: patienceMs ?? limits.softPowerMsMax })
}

/** A non-maskable interrupt: most operating systems write down where they were. */
export async function interrupt(bmc: Bmc): Promise<void> {
  const system = await bmc.system()
  await reset(bmc, system, await offered(bmc, system, ['Nmi']))
}

/** Sends a command. If it is refused because the machine is there already, that is fine. */
async function resetUnless(bmc: Bmc, system: Resource, type: string, wanted: PowerState): Promise<void> {
  try {
    await reset(bmc, system, type)
  } catch (error) {
    if (!isConflict(error) || (await readPower(bmc)) !== wanted) throw error
  }
}

const isConflict = (error: unknown): error is BmcRefusal =>
  error instanceof BmcRefusal && (error.status === 400 || error.status === 409)

interface Watch {
  pause: Pause
  ms: number
  isSoft?: boolean
}

/**
 * Reads until the state is as wanted twice in a row: BMCs report the old state for seconds, and some report Off on the
 * way to On.
 */
async function settled(bmc: Bmc, wanted: PowerState, { pause, ms, isSoft = false }: Watch): Promise<PowerState> {
  let seen = 0
  let waitedMs = 0
  for (let pauseMs: number = limits.powerPollMs; ; pauseMs = Math.min(pauseMs * 1.5, limits.powerPollMsMax)) {
    seen = (await readPower(bmc)) === wanted ? seen + 1 : 0
    if (seen === 2) return wanted
    if (waitedMs >= ms) break
    // Never beyond the time that the caller gave, unless only the second look is missing.
    const nextMs = Math.min(pauseMs, Math.max(ms - waitedMs, limits.powerPollMs))
    await pause(nextMs)
    waitedMs += nextMs
  }
  const [is, should] = wanted === 'power on' ? ['off', 'on'] : ['on', 'off']
  const hint = isSoft ? ' Its operating system may not listen; "power off" does not ask it.' : ''
  throw new HardwareFailure(
    `The machine is still ${is} ${Math.round(ms / 1_000)} s after it was told to go ${should}.${hint}`,
  )
}

const resetIn = ({ body }: Resource): Json => ((body['Actions'] ?? {}) as Json)['#ComputerSystem.Reset'] as Json

async function reset(bmc: Bmc, system: Resource, type: string): Promise<void> {
  const target = resetIn(system)?.['target']
  const path = typeof target === 'string' ? target : `${system.path}/Actions/ComputerSystem.Reset`
  await bmc.post(path, { ResetType: type })
}

/** The first of these that the BMC offers; where it doesn't say what it offers, the first. */
async function offered(bmc: Bmc, system: Resource, wanted: readonly [string, ...string[]]): Promise<string> {
  const types = await typesOf(bmc, system)
  const found = types ? wanted.find(type => types.includes(type)) : wanted[0]
  if (found !== undefined) return found
  throw new HardwareFailure(`The BMC has no ${wanted.join(' or ')}. It offers ${types!.join(', ')}.`)
}

/** What the BMC accepts as ResetType, here or in the action's information; null where it says nothing. */
async function typesOf(bmc: Bmc, system: Resource): Promise<string[] | null> {
  const action = resetIn(system)
  const named = listIn(action?.['ResetType@Redfish.AllowableValues'])
  if (named) return named
  const path = action?.['@Redfish.ActionInfo']
  const info = typeof path === 'string' ? await bmc.find(path) : await bmc.find(linkIn(action, '@Redfish.ActionInfo'))
  const parameters = (info?.body['Parameters'] ?? []) as Json[]
  return listIn(parameters.find(({ Name }) => Name === 'ResetType')?.['AllowableValues'])
}

function listIn(value: unknown): string[] | null {
  return Array.isArray(value) && value.length > 0 ? value.map(String) : null
}
