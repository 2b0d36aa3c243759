// The members of nodes, ports, providers and hosts in a fleet file, in the order of an export.
import { IN_FLEET_FILES, NODE_FIELDS, type NodeField } from '../../shared/node-fields.ts'

export type FleetField = (typeof IN_FLEET_FILES)[number]

/** The members that people look for first. The others follow in the order of the API. */
const FIRST: readonly FleetField[] = [
  'name',
  'driver',
  'resource_class',
  'description',
  'owner',
  'lessee',
  'conductor_group',
  'shard',
  'driver_info',
  'properties',
]

const FIELDS = [...new Set([...FIRST, ...IN_FLEET_FILES])]
const fieldsOf = (...types: NodeField['type'][]) => FIELDS.filter(name => types.includes(NODE_FIELDS[name].type))

export const INTERFACES = fieldsOf('interface')
/** Texts and flags of a node, each replaced as a whole. */
export const NODE_WORDS = fieldsOf('text', 'text?', 'flag', 'flag?', 'interface')
/** Objects of a node: an import changes only the members that the file names. */
export const NODE_DOCUMENTS = fieldsOf('json')
/** Flags for which false differs from not set. */
export const NODE_CHOICES = fieldsOf('flag?')
/** The members that are true or false. */
export const NODE_FLAGS: ReadonlySet<string> = new Set([
  ...fieldsOf('flag', 'flag?'),
  'maintenance',
  'retired',
  'leasable',
])

export const NODE_MEMBERS: readonly string[] = [
  'uuid',
  ...NODE_WORDS,
  ...NODE_DOCUMENTS,
  'traits',
  'ports',
  'provision_state',
  'maintenance',
  'maintenance_reason',
  'retired',
  'retired_reason',
  'leasable',
]

export const PORT_WORDS = ['address', 'pxe_enabled', 'physical_network', 'is_smartnic']
export const PORT_DOCUMENTS = ['local_link_connection', 'extra']

export const TERMS = ['total', 'reserved', 'min_unit', 'max_unit', 'step_size', 'allocation_ratio'] as const
