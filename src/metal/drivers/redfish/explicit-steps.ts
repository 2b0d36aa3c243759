// The steps that operators may name in clean_steps and deploy_steps.
import type { PlannedPart } from '../parts.ts'
import { type Done, HardwareFailure, type Json, type Machine, type WantedStep } from '../port.ts'
import { applyBios, resetBios, wrongSettings } from './bios.ts'
import { createRaid, deleteRaid, wrongVolumes } from './raid.ts'
import type { Visit } from './visit.ts'

interface ExplicitStep {
  run: (visit: Visit, args: Json) => Promise<Done | void>
  /** What is wrong with the arguments, or null. */
  wrong?: (args: Json, machine: Machine) => string | null
}

/** By interface and step. */
const EXPLICIT: Readonly<Record<string, ExplicitStep>> = {
  'bios.apply_configuration': { run: applyBios, wrong: wrongSettings },
  'bios.factory_reset': { run: resetBios },
  'raid.create_configuration': { run: createRaid, wrong: wrongVolumes },
  'raid.delete_configuration': { run: deleteRaid },
}

/** Those that must not be begun a second time: the disks may be half changed. */
const ONCE: ReadonlySet<string> = new Set(['raid.create_configuration', 'raid.delete_configuration'])

type Named = Pick<WantedStep, 'interface' | 'step'>
type Wanted = Named & Pick<WantedStep, 'args'>

const roomOf = ({ interface: kind, step }: Named): ExplicitStep | null =>
  Object.hasOwn(EXPLICIT, `${kind}.${step}`) ? EXPLICIT[`${kind}.${step}`]! : null

/** Why a step can't be done on this machine, or null. */
export function wrongStep({ interface: kind, step, args }: Wanted, machine: Machine): string | null {
  const room = roomOf({ interface: kind, step })
  if (room && machine.interfaces[kind] !== `no-${kind}`) return room.wrong?.(args, machine) ?? null
  const there = Object.keys(EXPLICIT).join(', ')
  return `Driver redfish has no step ${step} of interface ${kind} on this node. There are ${there}.`
}

/** The steps as parts, in the order in which they run. Throws before anything is done if there is no such step. */
export function explicitParts(visit: Visit, given: readonly WantedStep[]): PlannedPart[] {
  return given.map(({ interface: kind, step, args }) => {
    const wrong = wrongStep({ interface: kind, step, args }, visit.machine)
    if (wrong !== null) throw new HardwareFailure(wrong)
    const { run } = roomOf({ interface: kind, step })!
    return { interface: kind, step, args, run: () => run(visit, args) }
  })
}

/** As the arguments of a verb have them. Of a deployment's, those with a higher priority come first, and 0 is for never. */
export function stepsIn(args: Json, name: 'clean_steps' | 'deploy_steps'): WantedStep[] {
  const given = ((args[name] ?? []) as Partial<WantedStep>[]).map(step => ({
    ...(step as WantedStep),
    args: step.args ?? {},
    priority: step.priority ?? 1,
  }))
  if (name === 'clean_steps') return given
  return given.filter(({ priority }) => priority > 0).sort((a, b) => b.priority - a.priority)
}

/** Whoever takes over in the middle of such a step leaves it to a person. */
export function requireRepeatable(parts: readonly PlannedPart[], from: number): void {
  // Where another version planned more parts, nobody knows which one was begun.
  const begun = from < parts.length ? [parts[from]!] : parts
  const once = begun.find(({ interface: kind, step }) => ONCE.has(`${kind}.${step}`))
  if (from === 0 || !once) return
  throw new HardwareFailure(
    `A conductor died during ${once.step} of interface ${once.interface}. It is not begun again, because disks may be half changed.`,
  )
}
