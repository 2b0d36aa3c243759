// The attributes of a node that clients may set: their checks, their defaults, and how they become its row.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn, jsonText } from '../../shared/json.ts'
import { placementClass } from './class-names.ts'
import { INTERFACES, type Json } from '../drivers/port.ts'
import { type Drivers, interfacesFor } from '../drivers/registry.ts'
import type { Node, NodeRow } from './rows.ts'
import { isObject } from '../../shared/is-object.ts'

/** Says what is wrong with a value, or nothing. */
type Check = (value: unknown) => string | null

const text =
  (max: number): Check =>
  value =>
    typeof value === 'string' && value.length <= max ? null : `expected a string of at most ${max} characters`
const flag: Check = value => (typeof value === 'boolean' || isFlagWord(value) ? null : 'expected true or false')
const uuid: Check = value => (typeof value === 'string' && canonicalUuid(value) ? null : 'expected a UUID')
const object: Check = value => {
  if (!isObject(value)) return 'expected an object'
  return JSON.stringify(value).length <= limits.nodeJsonBytesMax ? null : 'the object is too large'
}
const properties: Check = value => {
  const wrong = object(value)
  if (wrong) return wrong
  const whole = (name: string) => /^\d+$/.test(String((value as Record<string, string | number | null>)[name] ?? 0))
  return ['cpus', 'local_gb', 'memory_mb'].every(whole) ? null : 'cpus, local_gb and memory_mb must be whole numbers'
}
const group: Check = value =>
  typeof value === 'string' && /^[\w.-]{0,255}$/.test(value) ? null : 'expected letters, digits, ., _ and -'

const NAME = /^[A-Za-z0-9._~-]{1,255}$/
const RESERVED = new Set(['detail', 'validate', 'maintenance', 'states', 'management', 'vendor_passthru'])

export const canBeName = (name: string) => NAME.test(name) && canonicalUuid(name) === null && !RESERVED.has(name)
const name: Check = value =>
  typeof value === 'string' && canBeName(value)
    ? null
    : 'a name is made of A-Z, a-z, 0-9, -, ., _ and ~, is no UUID and no word that the API uses'

const CHECKS: Record<string, Check> = {
  automated_clean: flag,
  chassis_uuid: uuid,
  conductor_group: group,
  description: text(4096),
  driver: text(255),
  driver_info: object,
  extra: object,
  instance_info: object,
  instance_uuid: uuid,
  lessee: text(255),
  maintenance: flag,
  name,
  network_data: object,
  owner: text(255),
  properties,
  protected: flag,
  protected_reason: text(4096),
  resource_class: text(80),
  retired: flag,
  retired_reason: text(4096),
  shard: text(255),
  ...Object.fromEntries(INTERFACES.map(name => [`${name}_interface`, text(255)])),
}

export const PATCHABLE: ReadonlySet<string> = new Set(Object.keys(CHECKS))
const NOT_AT_BIRTH = new Set(['protected', 'protected_reason'])
export const CREATABLE: ReadonlySet<string> = new Set(
  ['uuid', ...PATCHABLE].filter(attribute => !NOT_AT_BIRTH.has(attribute)),
)

/** Refuses values of the wrong kind; null and undefined stand for the default. */
export function checkAttributes(attributes: Json): void {
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue
    const wrong = attribute === 'uuid' ? uuid(value) : CHECKS[attribute]!(value)
    if (wrong)
      throw problem('invalid_parameter', { reason: `Invalid input for field/attribute ${attribute}: ${wrong}.` })
  }
  if (typeof attributes['driver'] !== 'string') {
    throw problem('invalid_parameter', { reason: "Invalid input for field/attribute driver: 'driver' is mandatory." })
  }
}

// Clients that read command lines send words.
const TRUE = new Set(['true', 't', '1', 'yes', 'y', 'on'])
const FALSE = new Set(['false', 'f', '0', 'no', 'n', 'off'])
export const flagOf = (word: string): boolean | null => {
  const lower = word.trim().toLowerCase()
  return TRUE.has(lower) ? true : FALSE.has(lower) ? false : null
}
const isFlagWord = (value: unknown) => typeof value === 'string' && flagOf(value) !== null

/** The row's part that clients may set, as a document that patches apply to. */
export function attributesOf(node: Node): Json {
  const interfaces = jsonIn(node.interfaces)
  const flags = (value: 0 | 1 | null) => (value === null ? null : value === 1)
  return {
    automated_clean: flags(node.automated_clean),
    chassis_uuid: node.chassis_uuid,
    conductor_group: node.conductor_group,
    description: node.description,
    driver: node.driver,
    driver_info: jsonIn(node.driver_info),
    extra: jsonIn(node.extra),
    instance_info: jsonIn(node.instance_info),
    instance_uuid: node.instance_uuid,
    lessee: node.lessee,
    maintenance: node.maintenance === 1,
    name: node.name,
    network_data: jsonIn(node.network_data),
    owner: node.owner,
    properties: jsonIn(node.properties),
    protected: node.protected === 1,
    protected_reason: node.protected_reason,
    resource_class: node.resource_class,
    retired: node.retired === 1,
    retired_reason: node.retired_reason,
    shard: node.shard,
    ...Object.fromEntries(INTERFACES.map(name => [`${name}_interface`, interfaces[name]])),
  }
}

type FromAttributes = Omit<
  Pick<
    NodeRow,
    | ('name' | 'driver' | 'automated_clean' | 'conductor_group' | 'description' | 'driver_info' | 'extra')
    | ('instance_info' | 'instance_uuid' | 'lessee' | 'maintenance' | 'network_data' | 'owner' | 'properties')
    | ('protected' | 'protected_reason' | 'resource_class' | 'placement_class' | 'retired' | 'retired_reason')
    | ('shard' | 'interfaces')
  >,
  never
>

/** The columns that checked attributes become. */
export function columnsOf(attributes: Json, drivers: Drivers): FromAttributes {
  const words = (attribute: string) => (attributes[attribute] as string | null | undefined) ?? null
  const json = (attribute: string) => jsonText((attributes[attribute] ?? {}) as Json)
  const resourceClass = words('resource_class') || null
  const instance = words('instance_uuid')
  const isProtected = asFlag(attributes['protected']) ?? 0
  const isRetired = asFlag(attributes['retired']) ?? 0
  return {
    name: words('name'),
    driver: attributes['driver'] as string,
    automated_clean: asFlag(attributes['automated_clean']),
    conductor_group: (words('conductor_group') ?? '').toLowerCase(),
    description: words('description'),
    driver_info: json('driver_info'),
    extra: json('extra'),
    instance_info: json('instance_info'),
    instance_uuid: instance === null ? null : canonicalUuid(instance),
    lessee: words('lessee'),
    maintenance: asFlag(attributes['maintenance']) ?? 0,
    network_data: json('network_data'),
    owner: words('owner'),
    properties: json('properties'),
    protected: isProtected,
    protected_reason: isProtected ? words('protected_reason') : null,
    resource_class: resourceClass,
    placement_class: placementClass(resourceClass),
    retired: isRetired,
    retired_reason: isRetired ? words('retired_reason') : null,
    shard: words('shard'),
    interfaces: jsonText(chosenInterfaces(attributes, drivers)),
  }
}

function asFlag(value: unknown): 0 | 1 | null {
  if (value === null || value === undefined) return null
  const isTrue = typeof value === 'string' ? flagOf(value) : value
  return isTrue ? 1 : 0
}

function chosenInterfaces(attributes: Json, drivers: Drivers): Record<string, string> {
  const driver = drivers.get(attributes['driver'] as string)
  if (!driver) {
    throw problem('invalid_parameter', {
      reason: `No valid host was found. Reason: No conductor service registered which supports driver ${String(attributes['driver'])}.`,
    })
  }
  const chosen: Json = {}
  for (const name of INTERFACES) {
    const wanted = attributes[`${name}_interface`] as string | null | undefined
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
