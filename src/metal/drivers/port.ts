// The hardware port: what a conductor asks of a machine, with any driver. Calls can't be fenced, so all of them
// must be safe to repeat.
import type { Json } from '../../shared/json.ts'
import type { PowerState } from '../../store/schema/states.ts'
import type { StepName } from '../nodes/states.ts'

export type { Json } from '../../shared/json.ts'
export type { PowerState } from '../../store/schema/states.ts'

export const INTERFACES = [
  'bios',
  'boot',
  'console',
  'deploy',
  'inspect',
  'management',
  'network',
  'power',
  'raid',
  'rescue',
  'storage',
  'vendor',
] as const
export type InterfaceName = (typeof INTERFACES)[number]

/** The interfaces that validation covers. */
export const VALIDATED = INTERFACES.filter(name => name !== 'vendor')

/** What a driver sees of a node. */
export interface Machine {
  readonly uuid: string
  readonly powerState: PowerState | null
  readonly driverInfo: Json
  readonly driverInternalInfo: Json
  readonly properties: Json
  readonly instanceInfo: Json
  readonly interfaces: Readonly<Record<InterfaceName, string>>
}

export const POWER_TARGETS = ['power on', 'power off', 'rebooting', 'soft power off', 'soft rebooting'] as const
export type PowerTarget = (typeof POWER_TARGETS)[number]

export interface Task {
  step: StepName | PowerTarget
  /** The arguments of the verb, such as clean steps. */
  args: Json
  /** The step goes on after its waiting state. */
  resumed: boolean
}

/** The result of a task; absent members are unknown. */
export interface Done {
  powerState?: PowerState
  /** What inspection found out. */
  inventory?: Json
}

/** The step is done, or the machine works by itself and is asked again after `ms`. */
export type StepResult = { kind: 'done'; found: Done } | { kind: 'waiting'; ms: number }

/** The hardware did not do what it was told; the message is for the operator. */
export class HardwareFailure extends Error {}

export interface Driver {
  readonly name: string
  /** The first of each kind is the default. */
  readonly interfaces: Readonly<Record<InterfaceName, readonly [string, ...string[]]>>
  /** The keys of driver_info that it reads, explained. */
  readonly properties: Readonly<Record<string, string>>
  readonly bootDevices: readonly string[]
  /** What is wrong with an interface's settings, or null when it would work. */
  validate(name: InterfaceName, machine: Machine): string | null
  /** Throws a HardwareFailure when it can't be done. */
  run(task: Task, machine: Machine): Promise<StepResult>
}
