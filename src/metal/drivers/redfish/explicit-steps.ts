// The steps that operators may name in clean_steps and deploy_steps.
import type { PlannedPart } from '../parts.ts'
import { type Done, HardwareFailure, type Json, type Machine, type WantedStep } from '../port.ts'
import { applyBios, resetBios } from './bios.ts'
import { createRaid, deleteRaid } from './raid.ts'
import type { Visit } from './visit.ts'

type ExplicitStep = (visit: Visit, args: Json) => Promise<Done | void>

/** By interface and step. */
const EXPLICIT: Readonly<Record<string, ExplicitStep>> = {
  'bios.apply_configuration': applyBios,
  'bios.factory_reset': resetBios,
  'raid.create_configuration': createRaid,
  'raid.delete_configuration': deleteRaid,
}

/** Those that must not be begun a second time: the disks may be half changed. */
const ONCE: ReadonlySet<string> = new Set(['raid.create_configuration', 'raid.delete_configuration'])

type Named = Pick<WantedStep, 'interface' | 'step'>

const roomOf = ({ interface: kind, step }: Named): ExplicitStep | null =>
  Object.hasOwn(EXPLICIT, `${kind}.${step}`) ? EXPLICIT[`${kind}.${step}`]! : null

/** Why a step can't be done on this machine, or null. */
export function wrongStep(
  { interface: kind, step }: Named,
  { interfaces }: Pick<Machine, 'interfaces'>,
): string | null {
  if (roomOf({ interface: kind, step }) && interfaces[kind] !== `no-${kind}`) return null
  const there = Object.keys(EXPLICIT).join(', ')
  return `Driver redfish has no step ${step} of interface ${kind} on this node. There are ${there}.`
}

/** The steps as parts, in the order in which they run. Throws before anything is done if there is no such step. */
export function explicitParts(visit: Visit, given: readonly WantedStep[]): PlannedPart[] {
  return given.map(({ interface: kind, step, args }) => {
    const wrong = wrongStep({ interface: kind, step }, visit.machine)
    if (wrong !== null) throw new HardwareFailure(wrong)
    const run = roomOf({ interface: kind, step })!
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
  const begun = parts[from]
  if (from === 0 || !begun || !ONCE.has(`${begun.interface}.${begun.step}`)) return
  throw new HardwareFailure(
    `A conductor died during ${begun.step} of interface ${begun.interface}. It is not begun again, because disks may be half changed.`,
  )
}
