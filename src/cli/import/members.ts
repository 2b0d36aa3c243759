// What a fleet file may say of nodes, ports, providers and hosts, in the order in which it is written.
import { IN_FLEET_FILES, NODE_FIELDS, type NodeField } from '../../shared/node-fields.ts'

export type FleetField = (typeof IN_FLEET_FILES)[number]

/** What a person looks for first is written first. The rest follows as clients are shown it. */
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
/** Texts and flags of a node that are changed one by one, as they are. */
export const NODE_WORDS = fieldsOf('text', 'text?', 'flag', 'flag?', 'interface')
/** Objects of a node: only those of their members change that a file names. */
export const NODE_DOCUMENTS = fieldsOf('json')
/** False is something else than unsaid in these. */
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
