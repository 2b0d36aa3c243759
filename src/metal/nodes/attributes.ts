// The attributes of a node that clients may set: their checks, their defaults, and their columns.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { limits } from '../../shared/limits.ts'
import {
  BLANKS,
  type ColumnName,
  COLUMNS,
  type ColumnType,
  type FieldsWith,
  NODE_FIELDS,
  type NodeColumns,
  type NodeField,
  type Rule,
  SETTABLE,
  TEXT_MAX,
} from '../../shared/node-fields.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn, jsonText, MEMBERS, WORDS } from '../../shared/json.ts'
import { placementClass } from './class-names.ts'
import { type InterfaceName, INTERFACES, type Json } from '../drivers/port.ts'
import { type Drivers, interfacesFor } from '../drivers/registry.ts'
import type { Node, NodeRow } from './rows.ts'
import { expected } from '../../shared/expected.ts'
import { isObject } from '../../shared/is-object.ts'

/** Returns what was wanted instead of a value, and what is wrong with it if there is more to say; null if it is right. */
type Check = (value: unknown) => readonly [wanted: string, flaw?: string] | null

const text =
  (max: number): Check =>
  value => {
    const isString = typeof value === 'string'
    if (isString && value.length <= max) return null
    return [`a string of at most ${max} characters`, isString ? 'is too long' : '']
  }
const flag: Check = value => (typeof value === 'boolean' || isFlagWord(value) ? null : ['true or false'])
const uuid: Check = value => (typeof value === 'string' && canonicalUuid(value) ? null : ['a UUID'])
const object: Check = value => {
  if (!isObject(value)) return ['an object']
  if (jsonText(value).length <= limits.nodeJsonBytesMax) return null
  return [`an object of at most ${limits.nodeJsonBytesMax} bytes`, 'is too long']
}
const sizes: Check = value => {
  const wrong = object(value)
  if (wrong) return wrong
  const whole = (name: string) => /^\d+$/.test(String((value as Record<string, string | number | null>)[name] ?? 0))
  return ['cpus', 'local_gb', 'memory_mb'].every(whole) ? null : ['whole numbers as cpus, local_gb and memory_mb']
}
const group: Check = value =>
  typeof value === 'string' && /^[\w.-]{0,255}$/.test(value) ? null : ['up to 255 letters, digits, ., _ and -']

const NAME = /^[A-Za-z0-9._~-]{1,255}$/
const RESERVED = new Set(['detail', 'validate', 'maintenance', 'states', 'management', 'vendor_passthru'])

export const canBeName = (name: string) => NAME.test(name) && canonicalUuid(name) === null && !RESERVED.has(name)
/** What names of nodes, and of what is called like them, must be. */
export const WANTED_NAME = `a name of 1 to 255 characters A-Z, a-z, 0-9, -, ., _ and ~, but no UUID and none of ${[...RESERVED].join(', ')}`
const name: Check = value =>
  typeof value === 'string' && canBeName(value)
    ? null
    : [WANTED_NAME, typeof value === 'string' ? 'is an invalid name' : '']

const RULES: Record<Rule, Check> = { uuid, name, group, sizes }

function checkOf({ type, rule, max }: NodeField): Check {
  if (rule) return RULES[rule]
  if (type === 'flag' || type === 'flag?') return flag
  return type === 'json' ? object : text(max ?? TEXT_MAX)
}

const settable = (...times: NodeField['set'][]): ReadonlySet<string> =>
  new Set(SETTABLE.filter(name => times.includes(NODE_FIELDS[name].set)))
export const PATCHABLE = settable('later', 'always')
export const CREATABLE = settable('first', 'always')

const CHECKS = new Map<string, Check>(SETTABLE.map(name => [name, checkOf(NODE_FIELDS[name])]))

/** Refuses values of the wrong kind; null and undefined stand for the default. */
export function checkAttributes(attributes: Json): void {
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue
    const wrong = CHECKS.get(attribute)!(value)
    if (wrong) throw problem('invalid_parameter', { reason: expected(wrong[0], attribute, value, wrong[1]) })
  }
  if (typeof attributes['driver'] !== 'string') {
    throw problem('invalid_parameter', { reason: "'driver' is mandatory: the name of a driver that a conductor has." })
  }
}

/** Refuses a reason for what isn't so: it would be dropped without a word. `named`: the attributes that the client sets. */
export function requireFlagsOfReasons(named: Iterable<string>, attributes: Json): void {
  for (const name of named) {
    const flag = (NODE_FIELDS as Readonly<Record<string, NodeField>>)[name]?.with
    if (flag === undefined || (attributes[name] ?? null) === null || asFlag(attributes[flag]) === 1) continue
    throw problem('invalid_parameter', { reason: `${name} can only be set for a node that is ${flag}.` })
  }
}

// Command-line clients send booleans as words.
const TRUE = new Set(['true', 't', '1', 'yes', 'y', 'on'])
const FALSE = new Set(['false', 'f', '0', 'no', 'n', 'off'])
export const flagOf = (given: unknown): boolean | null => {
  if (typeof given === 'boolean') return given
  const lower = typeof given === 'string' ? given.trim().toLowerCase() : ''
  return TRUE.has(lower) ? true : FALSE.has(lower) ? false : null
}
const isFlagWord = (value: unknown) => typeof value === 'string' && flagOf(value) !== null

type SetColumn = Exclude<Extract<ColumnName, (typeof SETTABLE)[number]>, 'uuid'>
const SET_COLUMNS = COLUMNS.filter((name): name is SetColumn => PATCHABLE.has(name))

/** The attributes that clients may change, as a document for JSON patches. */
export function attributesOf(node: Node): Json {
  const valueOf = (name: SetColumn): unknown => {
    const { type } = NODE_FIELDS[name]
    if (type === 'json') return jsonIn(node[name] as NodeColumns['extra'], MEMBERS)
    return type.startsWith('flag') && node[name] !== null ? node[name] === 1 : node[name]
  }
  const interfaces = jsonIn(node.interfaces, WORDS)
  return {
    ...Object.fromEntries(SET_COLUMNS.map(name => [name, valueOf(name)])),
    chassis_uuid: node.chassis_uuid,
    ...Object.fromEntries(INTERFACES.map(name => [interfaceField(name), interfaces[name]])),
  }
}

/** The API field of an interface. */
export const interfaceField = (name: InterfaceName): FieldsWith<{ type: 'interface' }> => `${name}_interface`

/** The default values of the columns. */
export const BLANK = Object.fromEntries(
  COLUMNS.map(name => [name, BLANKS[NODE_FIELDS[name].type as ColumnType]]),
) as unknown as Pick<NodeRow, ColumnName>

function columnOf({ type, rule }: NodeField, value: unknown): string | number | null {
  if (value === null || value === undefined) return BLANKS[type as ColumnType]
  if (type === 'json') return jsonText(value)
  if (type === 'flag' || type === 'flag?') return asFlag(value)
  if (rule === 'uuid') return canonicalUuid(value as string)
  return rule === 'group' ? (value as string).toLowerCase() : (value as string)
}

type FromAttributes = Pick<NodeColumns, SetColumn> & Pick<NodeRow, 'placement_class' | 'interfaces'>

/** Turns checked attributes into columns. */
export function columnsOf(attributes: Json, drivers: Drivers): FromAttributes {
  const isSet = ({ with: flag }: NodeField) => flag === undefined || asFlag(attributes[flag]) === 1
  const columns = SET_COLUMNS.map(name => {
    const field = NODE_FIELDS[name]
    return [name, columnOf(field, isSet(field) ? attributes[name] : null)]
  })
  const resource_class = (attributes['resource_class'] as string | null | undefined) || null
  return {
    ...(Object.fromEntries(columns) as FromAttributes),
    resource_class,
    placement_class: placementClass(resource_class),
    interfaces: jsonText(chosenInterfaces(attributes, drivers)),
  }
}

const asFlag = (value: unknown): 0 | 1 => (flagOf(value) ? 1 : 0)

function chosenInterfaces(attributes: Json, drivers: Drivers): Record<string, string> {
  const driver = drivers.get(attributes['driver'] as string)
  if (!driver) {
    throw problem('invalid_parameter', {
      reason: `No valid host was found. Reason: No conductor service registered which supports driver ${String(attributes['driver'])}.`,
    })
  }
  const chosen: Json = {}
  for (const name of INTERFACES) {
    const wanted = attributes[interfaceField(name)] as string | null | undefined
    if (wanted === null || wanted === undefined) continue
    if (!(driver.interfaces[name] as readonly string[]).includes(wanted)) {
      throw problem('invalid_parameter', {
        reason: `Could not find the following interface in the list of enabled ${name} interfaces: ${wanted}. Valid interfaces are ${driver.interfaces[name].join(', ')}.`,
      })
    }
    chosen[name] = wanted
  }
  return interfacesFor(driver, chosen)
}
