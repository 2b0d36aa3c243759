// Power through IPMI: a command is done when the BMC reads what it was told.
import { countdown } from '../../../clock/countdown.ts'
import { limits } from '../../../shared/limits.ts'
import type { PlannedPart } from '../parts.ts'
import { HardwareFailure, type PowerState, type PowerTarget } from '../port.ts'
import type { Ipmitool } from './ipmitool.ts'
import type { IpmiSettings } from './settings.ts'
import { powerIn } from './texts.ts'

/** A machine within reach. */
export interface Reach {
  tool: Ipmitool
  settings: IpmiSettings
  signal: AbortSignal
  /** Throws when nothing may be changed any more. */
  requireLock?: (() => Promise<void>) | undefined
}

export async function readPower({ tool, settings, signal }: Reach): Promise<PowerState> {
  const said = await tool.run(settings, ['power', 'status'], signal)
  const state = powerIn(said)
  if (state === null) throw new HardwareFailure(`The BMC at ${settings.address} did not say whether power is on.`)
  return state
}

/** Sends nothing if the machine is in that state already. */
export async function bringTo(reach: Reach, state: 'power on' | 'power off'): Promise<PowerState> {
  if ((await readPower(reach)) === state) return state
  await order(reach, state === 'power on' ? 'on' : 'off')
  return reached(reach, state, limits.ipmiPowerMs)
}

/** A soft power off asks the operating system, which may take its time or not listen. */
async function shutDown(reach: Reach, timeoutMs: number = limits.ipmiSoftPowerMs): Promise<PowerState> {
  if ((await readPower(reach)) === 'power off') return 'power off'
  await order(reach, 'soft')
  return reached(reach, 'power off', timeoutMs)
}

interface Switching {
  target: PowerTarget
  /** For soft targets. */
  timeoutMs: number | undefined
  /** What is to be done before a start. */
  beforeStart: () => Promise<void>
}

/**
 * Reboots by off and on: a reset of a machine that is off does nothing, and nobody can see whether it happened. In two
 * parts: a machine that is on again is not switched off once more.
 */
export function switchingTo(reach: Reach, { target, timeoutMs, beforeStart }: Switching): PlannedPart[] {
  const isSoft = target.startsWith('soft')
  const down = async () => ({
    powerState: await (isSoft ? shutDown(reach, timeoutMs) : bringTo(reach, 'power off')),
  })
  const up = async () => {
    await beforeStart()
    return { powerState: await bringTo(reach, 'power on') }
  }
  const off: PlannedPart = { interface: 'power', step: 'power_off', run: down }
  const on: PlannedPart = { interface: 'power', step: 'power_on', run: up }
  if (target === 'power on') return [on]
  return target.endsWith('power off') ? [off] : [off, on]
}

async function order({ tool, settings, signal, requireLock }: Reach, word: string): Promise<void> {
  await requireLock?.()
  await tool.run(settings, ['power', word], signal)
}

async function reached(reach: Reach, state: PowerState, ms: number): Promise<PowerState> {
  const left = countdown(ms)
  for (;;) {
    // The pause after each command is the pace of the polls.
    if ((await readPower(reach)) === state) return state
    if (left() <= 0) {
      const seconds = Math.round(ms / 1_000)
      throw new HardwareFailure(`The machine was told, and still does not read ${state} after ${seconds} seconds.`)
    }
  }
}
