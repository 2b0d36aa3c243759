// The hardware port: what a conductor asks of a machine, with any driver. Calls can't be fenced, so all of them
// must be safe to repeat.
import { limits } from '../../shared/limits.ts'
import { plainText } from '../../shared/plain-text.ts'
import type { Json } from '../../shared/json.ts'
import type { PowerState } from '../../store/schema/states.ts'
import type { StepName } from '../nodes/states.ts'
import type { Answer, Question } from './questions.ts'

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
  readonly name: string | null
  readonly resourceClass: string | null
  readonly powerState: PowerState | null
  readonly driverInfo: Json
  readonly driverInternalInfo: Json
  readonly properties: Json
  readonly extra: Json
  readonly instanceInfo: Json
  readonly instanceUuid: string | null
  readonly targetRaidConfig: Json
  readonly interfaces: Readonly<Record<InterfaceName, string>>
}

export const POWER_TARGETS = ['power on', 'power off', 'rebooting', 'soft power off', 'soft rebooting'] as const
export type PowerTarget = (typeof POWER_TARGETS)[number]

/** Who has the machine; while it is taken back, who had it. */
export interface Holder {
  project: string
  user: string
  allocation: { uuid: string; name: string | null; extra: Json } | null
}

export interface Task {
  step: StepName | PowerTarget
  /** The arguments of the verb, such as clean steps. */
  args: Json
  /** The step goes on after its waiting state. */
  resumed: boolean
  /** The same for whoever goes on with this step, and another one when it is asked for again. */
  attempt: string
  /** Null where nobody has it, or the driver doesn't hand machines over. */
  holder: Holder | null
}

/** A network card that inspection found. */
export interface FoundPort {
  address: string
  pxeEnabled?: boolean
  extra?: Json
}

/** The result of a task; absent members are unknown. */
export interface Done {
  powerState?: PowerState
  bootMode?: 'uefi' | 'bios'
  /** What inspection found out: kept whole, and its basics become properties. */
  inventory?: Json
  /** What inspection could not find out, in words for the operator. */
  notes?: readonly string[]
  /** Ports that the node gets, unless a port has that address already. */
  ports?: readonly FoundPort[]
  /** What the driver wants to know next time: merged into driver_internal_info; null removes a key. */
  internal?: Json
  /** Settings of the firmware as they are now. */
  bios?: readonly BiosSetting[]
  raidConfig?: Json
}

/** As GET /v1/nodes/X/bios shows it; absent members are unknown. */
export interface BiosSetting {
  name: string
  value: string | null
  attribute_type?: string | null
  allowable_values?: readonly string[] | null
  lower_bound?: number | null
  upper_bound?: number | null
  min_length?: number | null
  max_length?: number | null
  read_only?: boolean | null
  reset_required?: boolean | null
  unique?: boolean | null
}

/**
 * The step is done, or the machine works by itself and is asked again after `ms`. `callsBack`: the agent on its ramdisk
 * must call within that time, and is waited for until then.
 */
export type StepResult = { kind: 'done'; found: Done } | { kind: 'waiting'; ms: number; callsBack?: true }

/** A part of a step, as the node's deploy_step or clean_step shows it. */
export interface Part {
  interface: InterfaceName
  step: string
  args?: Json
  priority?: number
}

/** What a client wants done in a deployment or a cleaning: `deploy_steps` and `clean_steps` among a task's arguments. */
export interface WantedStep extends Part {
  args: Json
  /** Steps with a higher one come first; clean steps are done in the order given. */
  priority: number
}

/** Where a step runs: what the conductor does for a driver meanwhile. */
export interface Site {
  /** The part to go on with; more than 0 after the death of another conductor. */
  readonly part: number
  /** What the parts before it found out, when another conductor did them. */
  readonly found?: Done
  /**
   * Writes down which part begins, and what those before it found out. Throws when the lock is lost: then nothing more
   * may be done to the machine.
   */
  begin(index: number, part: Part, found?: Done): Promise<void>
  /** Throws when the lock may be lost: asked before each change, since a process may have been paused for long. */
  requireLock?(): Promise<void>
  /** A line in the node's history; `output` is what a program printed. */
  note(entry: { event: string; severity?: 'info' | 'error'; output?: string }): Promise<void>
  /** Aborted when the process stops or the lock is lost. */
  readonly signal: AbortSignal
}

/** A serial console while it is open. One for each machine, whoever watches. */
export interface SerialLine {
  /** What the machine prints. Ends with the line; throws a HardwareFailure when it is lost. */
  readonly output: AsyncIterable<Buffer>
  /** What is typed. */
  write(bytes: Buffer): void
  close(): Promise<void>
}

export interface Opening {
  /** A session of someone else is ended for it. */
  takesOver: boolean
  signal: AbortSignal
}

/** The hardware did not do what it was told; the message is for the operator. Machines say parts of it, so it is cleaned. */
export class HardwareFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(plainText(message.slice(0, limits.hardwareWordsMax)), options)
  }
}

export interface VendorMethod {
  http: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[]
  description: string
}

/** In upstream's words. */
export const unsupported = (driver: string, what: string) =>
  `Driver ${driver} does not support ${what} (disabled or not implemented).`

export interface Driver {
  readonly name: string
  /** The first of each kind is the default. */
  readonly interfaces: Readonly<Record<InterfaceName, readonly [string, ...string[]]>>
  /** The keys of driver_info that it reads, explained. */
  readonly properties: Readonly<Record<string, string>>
  readonly bootDevices: readonly string[]
  /** Steps that another conductor may finish, besides those that only read. */
  readonly resumable: readonly StepName[]
  /** What only this driver can do, by name: answers to the question `vendor`. */
  readonly vendorMethods?: Readonly<Record<string, VendorMethod>>
  /** What this machine lacks for the driver, in words; null when it can work here. */
  lacks?(): string | null
  /** What is wrong with an interface's settings, or null when it would work. The machine is not asked. */
  validate(name: InterfaceName, machine: Machine): string | null
  /** Why a step that a client wants can't be done, or null. Absent: there are no such steps. */
  validateStep?(during: 'deploy' | 'clean', step: WantedStep, machine: Machine): string | null
  /** Throws a HardwareFailure when it can't be done. */
  run(task: Task, machine: Machine, site: Site): Promise<StepResult>
  /**
   * Whether something is to be done to this machine when it changes hands: then whoever gets it by an allocation has it
   * deployed, and it is undeployed when the allocation ends. Absent: those who have it do so themselves.
   */
  handsOver?(machine: Machine): boolean
  /** What the power really is. Absent: the node's row is the truth. */
  readPower?(machine: Machine, signal: AbortSignal): Promise<PowerState>
  /** Answers a question about the machine, or changes something small. Throws a HardwareFailure. */
  ask?(question: Question, machine: Machine, signal: AbortSignal, site?: Pick<Site, 'requireLock'>): Promise<Answer>
  /** Opens the serial console, where `ask` answers that there is a stream. Throws a HardwareFailure. */
  openConsole?(machine: Machine, how: Opening): Promise<SerialLine>
  /** Lets go of sessions and connections. */
  stop?(): Promise<void>
}
