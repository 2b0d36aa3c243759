// The steps that operators may name in clean_steps and deploy_steps.
import type { PlannedPart } from '../parts.ts'
import { type Done, HardwareFailure, type Json, type Machine, type Part, type WantedStep } from '../port.ts'
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

/** The steps, in the order in which they are given. Throws before anything is done if there is no such step. */
export function explicitParts(visit: Visit, given: unknown): PlannedPart[] {
  const steps = Array.isArray(given) ? (given as WantedStep[]) : []
  return steps.map(({ interface: kind, step, args }) => {
    const found = stepOf({ interface: kind, step }, visit.machine)
    if (typeof found === 'string') throw new HardwareFailure(`Driver redfish ${found}.`)
    return { interface: kind, step, args, run: () => found.run(visit, args) }
  })
}

/** What is wrong with a step that a client wants, or null. */
export function wrongStep({ args, ...step }: WantedStep, machine: Machine): string | null {
  const found = stepOf(step, machine)
  return typeof found === 'string' ? `the driver redfish ${found}` : (found.wrong?.(args, machine) ?? null)
}

/** The step, or why there is none. */
function stepOf({ interface: kind, step }: Part, { interfaces }: Machine): ExplicitStep | string {
  const name = `${kind}.${step}`
  if (Object.hasOwn(EXPLICIT, name) && interfaces[kind] !== `no-${kind}`) return EXPLICIT[name]!
  return `has no step ${step} of interface ${kind} on this node; it has ${Object.keys(EXPLICIT).join(', ')}`
}

/** Whoever takes over in the middle of such a step leaves it to a person. */
export function requireRepeatable(parts: readonly PlannedPart[], from: number): void {
  const begun = parts[from]
  if (from === 0 || !begun || !ONCE.has(`${begun.interface}.${begun.step}`)) return
  throw new HardwareFailure(
    `A conductor died during ${begun.step} of interface ${begun.interface}. It is not begun again, because disks may be half changed.`,
  )
}
