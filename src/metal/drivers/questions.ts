// What can be asked of a machine between tasks: a closed list, with the arguments and the answer of each.
import type { Json } from '../../shared/json.ts'
import type { PowerState } from '../../store/schema/states.ts'
import type { InterfaceName } from './port.ts'

interface Indicator {
  name: string
  readonly: boolean
  states: readonly string[]
}

export interface Reading {
  sensor: string
  kind: 'Temperature' | 'Fan' | 'Power' | 'Voltage' | 'Current' | 'Other'
  value: number | null
  unit: string | null
  health: string | null
}

/** A change, and what the driver wants to know of it next time: merged into driver_internal_info; null removes a key. */
interface Changed {
  internal?: Json
}

interface Questions {
  /** Asks the BMC: reachable, credentials, power readable. By interface: null when it works, else the reason in words. */
  validate: [args: object, answer: Partial<Record<InterfaceName, string | null>>]
  power_state: [args: object, answer: { power_state: PowerState }]
  boot_device: [args: object, answer: { boot_device: string | null; persistent: boolean | null }]
  set_boot_device: [args: { boot_device: string; persistent: boolean }, answer: Changed]
  supported_boot_devices: [args: object, answer: { supported_boot_devices: readonly string[] }]
  boot_mode: [args: object, answer: { boot_mode: string | null; secure_boot: boolean | null }]
  set_boot_mode: [args: { boot_mode: 'uefi' | 'bios' }, answer: Changed]
  set_secure_boot: [args: { secure_boot: boolean }, answer: Changed]
  sensors: [args: object, answer: { sensors: readonly Reading[] }]
  /** By component, such as system, chassis, disk. */
  indicators: [args: object, answer: { indicators: Readonly<Record<string, readonly Indicator[]>> }]
  indicator: [args: { component: string; name: string }, answer: { state: string }]
  set_indicator: [args: { component: string; name: string; state: string }, answer: Changed]
  inject_nmi: [args: object, answer: Changed]
  /** The system event log, newest last. */
  events: [args: object, answer: { events: readonly { at: string | null; text: string; severity: string | null }[] }]
  /** `null`: it has none. `link`: a page of the BMC; `stream`: the process serves the bytes. */
  console: [args: object, answer: { console: { kind: 'link'; url: string } | { kind: 'stream' } | null }]
  vendor: [args: { method: string; http: string; data: Json }, answer: Json]
}

export type QuestionName = keyof Questions
export type QuestionOf<Name extends QuestionName> = { name: Name; args: Questions[Name][0] }
export type Question = { [Name in QuestionName]: QuestionOf<Name> }[QuestionName]
export type AnswerTo<Name extends QuestionName> = Questions[Name][1]
export type Answer = AnswerTo<QuestionName>

/** These change the machine, so nobody else may be at work on it meanwhile. */
export const CHANGING: ReadonlySet<QuestionName> = new Set<QuestionName>([
  'set_boot_device',
  'set_boot_mode',
  'set_secure_boot',
  'set_indicator',
  'inject_nmi',
  'vendor',
])

/** Of those that change something: what must not happen twice because a conductor died in it. */
export const ONCE: ReadonlySet<QuestionName> = new Set<QuestionName>(['inject_nmi', 'vendor'])
