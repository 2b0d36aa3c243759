// The steps that operators may name in clean_steps and deploy_steps.
import { isObject } from '../../../shared/is-object.ts'
import type { PlannedPart } from '../parts.ts'
import { type Done, HardwareFailure, type InterfaceName, type Json } from '../port.ts'
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

interface Named {
  interface: InterfaceName
  step: string
  args: Json
  priority: number
}

/** The steps in the order in which they run. Throws before anything is done if there is no such step. */
export function explicitParts(visit: Visit, given: unknown): PlannedPart[] {
  const named = (Array.isArray(given) ? given : []).filter(isObject).map((step): Named => ({
    interface: step['interface'] as InterfaceName,
    step: step['step'] as string,
    args: isObject(step['args']) ? step['args'] : {},
    priority: typeof step['priority'] === 'number' ? step['priority'] : 1,
  }))
  // Priority 0 switches a step off, as upstream has it.
  const due = named.filter(({ priority }) => priority > 0).sort((a, b) => b.priority - a.priority)
  return due.map(({ interface: kind, step, args }) => {
    const run = Object.hasOwn(EXPLICIT, `${kind}.${step}`) ? EXPLICIT[`${kind}.${step}`]! : null
    if (!run || visit.machine.interfaces[kind] === `no-${kind}`) throw unknownStep(kind, step)
    return { interface: kind, step, args, run: () => run(visit, args) }
  })
}

function unknownStep(kind: string, step: string): HardwareFailure {
  const there = Object.keys(EXPLICIT)
  const offer = there.length > 0 ? `It has ${there.join(', ')}.` : 'It has none.'
  return new HardwareFailure(`Driver redfish has no step ${step} of interface ${kind} on this node. ${offer}`)
}

/** Whoever takes over in the middle of such a step leaves it to a person. */
export function requireRepeatable(parts: readonly PlannedPart[], from: number): void {
  const begun = parts[from]
  if (from === 0 || !begun || !ONCE.has(`${begun.interface}.${begun.step}`)) return
  throw new HardwareFailure(
    `A conductor died during ${begun.step} of interface ${begun.interface}. It is not begun again, because disks may be half changed.`,
  )
}
