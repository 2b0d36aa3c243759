// What a fleet file may say of nodes, ports, providers and hosts, in the order in which it is written.

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
].map(kind => `${kind}_interface`)

/** Texts and flags of a node that are changed one by one, as they are. */
export const NODE_WORDS = [
  'name',
  'driver',
  'resource_class',
  'description',
  'owner',
  'lessee',
  'conductor_group',
  'shard',
  'automated_clean',
  ...INTERFACES,
]
/** Objects of a node: only those of their members change that a file names. */
export const NODE_DOCUMENTS = ['driver_info', 'properties', 'extra', 'network_data']

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
