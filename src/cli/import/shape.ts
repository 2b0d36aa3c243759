// The schema of a fleet file.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { MASK } from '../../shared/secret-keys.ts'
import { limits } from '../../shared/limits.ts'
import { NODE_FIELDS, type Rule, TEXT_MAX } from '../../shared/node-fields.ts'
import { BMC_MEMBERS, bmcPlaceOf, bmcMembersOf, bmcSetting, oneDriver } from './bmc.ts'
import * as c from './checks.ts'
import { type FleetField, NODE_DOCUMENTS, NODE_WORDS } from './members.ts'
import { WANTED } from './states.ts'
import { isObject } from '../../shared/is-object.ts'

export const KINDS = ['nodes', 'providers', 'hosts'] as const
export type Kind = (typeof KINDS)[number]

/** Ten times the largest fleet that Holdfast is designed for. */
const ENTRIES_MAX = 50_000
/** The largest number in an inventory. */
export const AMOUNT_MAX = 2_147_483_647

const isUuid = (value: unknown) => typeof value === 'string' && canonicalUuid(value) !== null
const uuid: c.Check = (value, path) => (isUuid(value) ? [] : [{ path, says: `${c.shown(value)} is no UUID` }])
const document = c.anyObject(limits.nodeJsonBytesMax)
const trait = c.matching(
  /^(?!CUSTOM_$)[A-Z0-9_]{1,255}$/,
  'a trait, which is made of A-Z, 0-9 and _ and begins with CUSTOM_ unless it is a standard one',
)
const resourceClass = c.matching(
  /^(?!CUSTOM_$)[A-Z0-9_]{1,255}$/,
  'a resource class, which is made of A-Z, 0-9 and _ and begins with CUSTOM_ unless it is a standard one',
)
const MAC = /^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i
const mac = c.matching(MAC, 'a MAC address')
const isText = (value: unknown) => typeof value === 'string'
const isNumber = (value: unknown) => typeof value === 'number'

const RESERVED = 'detail|validate|maintenance|states|management|vendor_passthru'
const nodeName = c.also(
  c.matching(new RegExp(`^(?!(${RESERVED})$)[A-Za-z0-9._~-]{1,255}$`), 'a name made of A-Z, a-z, 0-9, -, ., _ and ~'),
  (value, path) => (isUuid(value) ? [{ path, says: 'is a UUID, which is no name' }] : []),
)
const sizes: c.Check = (value, path) =>
  ['cpus', 'local_gb', 'memory_mb']
    .filter(name => isObject(value) && !/^"?\d+"?$/.test(JSON.stringify(value[name] ?? 0)))
    .map(name => ({ path: [...path, name], says: 'must be a whole number' }))
const unmasked: c.Check = (value, path) =>
  Object.entries(isObject(value) ? value : {})
    .filter(([, inner]) => isMasked(inner))
    .map(([name]) => ({ path: [...path, name], says: 'is masked: give the secret, or leave it out to keep it' }))

/** Whether the value contains a secret that the server has masked, also in a URL. */
export const isMasked = (value: unknown): boolean =>
  (typeof value === 'string' && value.includes(MASK)) ||
  (typeof value === 'object' && value !== null && Object.values(value).some(isMasked))

const port = c.either(
  isText,
  mac,
  c.objectOf(
    {
      uuid,
      address: mac,
      pxe_enabled: c.flag,
      physical_network: c.orNull(c.text(64)),
      is_smartnic: c.flag,
      local_link_connection: document,
      extra: document,
    },
    ['address'],
  ),
)

const RULES: Record<Rule, c.Check> = {
  uuid,
  name: nodeName,
  group: c.matching(/^[\w.-]{0,255}$/, 'a group made of letters, digits, ., _ and -'),
  sizes: c.also(document, sizes),
}
/** Values that the server would accept, but that are surely mistakes. */
const STRICTER: Partial<Record<FleetField, c.Check>> = {
  resource_class: c.orNull(c.text(80, 1)),
  driver_info: c.also(document, unmasked),
}

function fieldCheck(name: FleetField): c.Check {
  const { type, rule, max = TEXT_MAX } = NODE_FIELDS[name]
  const isNullable = type.endsWith('?')
  const plain = type.startsWith('flag') ? c.flag : type === 'json' ? document : c.text(max, isNullable ? 0 : 1)
  const check = rule ? RULES[rule] : plain
  return isNullable ? c.orNull(check) : check
}

const node: c.Check = c.also(
  c.objectOf({
    uuid,
    ...Object.fromEntries([...NODE_WORDS, ...NODE_DOCUMENTS].map(name => [name, STRICTER[name] ?? fieldCheck(name)])),
    ...Object.fromEntries(BMC_MEMBERS.map(name => [name, bmcSetting])),
    traits: c.listOf(trait, limits.nodeTraitsMax),
    ports: c.listOf(port, limits.portsPerNodeMax),
    provision_state: c.oneOf(WANTED),
    maintenance: c.flag,
    maintenance_reason: c.text(4096),
    retired: c.flag,
    retired_reason: c.text(4096),
    leasable: c.flag,
  }),
  oneDriver,
  onlyWith('maintenance_reason', 'maintenance'),
  onlyWith('retired_reason', 'retired'),
  (value, path) =>
    isObject(value) && value['retired'] === true && value['provision_state'] === 'available'
      ? [{ path: [...path, 'provision_state'], says: "a retired node can't be available" }]
      : [],
)

function onlyWith(reason: string, flag: string): c.Check {
  return (value, path) =>
    isObject(value) && value[reason] !== undefined && value[flag] !== true
      ? [{ path: [...path, reason], says: `goes with ${flag}: true` }]
      : []
}

const inventory = c.either(
  isNumber,
  c.whole(1, AMOUNT_MAX),
  c.objectOf({
    total: c.whole(1, AMOUNT_MAX),
    reserved: c.whole(0, AMOUNT_MAX),
    min_unit: c.whole(1, AMOUNT_MAX),
    max_unit: c.whole(1, AMOUNT_MAX),
    step_size: c.whole(1, AMOUNT_MAX),
    allocation_ratio: c.positive,
  }),
)

const provider = c.objectOf({
  uuid,
  name: c.text(200, 1),
  parent: c.orNull(c.text(200, 1)),
  inventories: c.mapOf(resourceClass, inventory),
  traits: c.listOf(trait),
  aggregates: c.listOf(uuid),
})

/** Members of a host that the server sets; they can't be names of capabilities. */
const HOST_OWN =
  'id|name|hypervisor_hostname|service_name|vcpus|memory_mb|local_gb|cpu_info|hypervisor_type|hypervisor_version|availability_zone|status|reservable|trust_id|created_at|updated_at'
export const HOST_MEMBERS: ReadonlySet<string> = new Set(HOST_OWN.split('|'))

const host = c.objectOf(
  {
    name: c.text(200, 1),
    capabilities: c.mapOf(
      c.matching(
        new RegExp(`^(?!(${HOST_OWN})$).{1,${limits.capabilityNameCharsMax}}$`, 's'),
        `a capability of at most ${limits.capabilityNameCharsMax} characters that the host doesn't say itself`,
      ),
      c.textOrNumber(limits.capabilityCharsMax),
      limits.capabilitiesPerHostMax,
    ),
  },
  ['name'],
)

const identified: c.Check = (value, path) =>
  isObject(value) && value['uuid'] === undefined && (value['name'] ?? undefined) === undefined
    ? [{ path, says: 'has neither a name nor a uuid' }]
    : []

/** A node without a name can have the address of its BMC. */
const reachable: c.Check = (value, path) =>
  isObject(value) && bmcPlaceOf(bmcMembersOf(value).driver_info) !== null
    ? []
    : identified(value, path).map(finding => ({
        ...finding,
        says: 'has neither a name nor a uuid, nor the address of a BMC',
      }))

/** A whole file. */
export const fleetFile = c.objectOf({
  nodes: c.listOf(c.also(node, reachable), ENTRIES_MAX),
  providers: c.listOf(c.also(provider, identified), ENTRIES_MAX),
  hosts: c.listOf(host, ENTRIES_MAX),
})
