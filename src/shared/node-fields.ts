// The fields of a node, one line each. They define the database columns, what clients may send, filter, sort by and
// see, the OpenAPI document, and what fleet files may set. A new field is a line here and a column in a migration.

import { EMPTY, type Json, type JsonText } from './json.ts'

/** What the database keeps of each type. With ? it may be null. */
interface ColumnTypes {
  text: string
  'text?': string | null
  flag: 0 | 1
  'flag?': 0 | 1 | null
  time: number
  'time?': number | null
  json: JsonText<Json>
}
export type ColumnType = keyof ColumnTypes

/** Not a column of the node's row, or a column with another name. */
type OtherType = 'interface' | 'joined' | 'links' | 'traits'

export interface NodeField<Word extends string = string> {
  type: ColumnType | OtherType
  /** The version that brought it, by its word in api/baremetal/versions.ts. */
  since?: Word
  /** When clients may set it: only at creation, only later, or both. */
  set?: 'first' | 'later' | 'always'
  /** The check of what they set, besides its type. */
  rule?: Rule
  /** The most characters that a text may have, where it isn't TEXT_MAX. */
  max?: number
  /** The flag without which it is null. */
  with?: 'protected' | 'retired'
  /** Lists can be filtered by it, from the version of the field on or from a later one. */
  filter?: true | Word
  /** Short rows have it, from the version of the field on or from a later one. */
  short?: true | Word
  /** Callers without the right to see it all see less of it. */
  veil?: Veil
  /** Fleet files may set it. */
  fleet?: true
}
/** The width of upstream's columns. */
export const TEXT_MAX = 255
/** For the command and fleet files, where a node is described without one: a machine that is simply there. */
export const DEFAULT_DRIVER = 'manual'
export type Rule = 'uuid' | 'name' | 'group' | 'sizes'
export type Veil = 'driver' | 'instance' | 'hold'

/** In the order that clients see. Lists can be sorted by every column that isn't JSON. */
const FIELDS = {
  uuid: { type: 'text', set: 'first', rule: 'uuid', short: true },
  created_at: { type: 'time' },
  updated_at: { type: 'time?' },
  automated_clean: { type: 'flag?', since: 'automatedClean', set: 'always', fleet: true },
  boot_mode: { type: 'text?', since: 'bootMode' },
  clean_step: { type: 'json', since: 'cleanStep' },
  conductor_group: { type: 'text', since: 'conductorGroup', set: 'always', rule: 'group', filter: true, fleet: true },
  console_enabled: { type: 'flag' },
  deploy_step: { type: 'json', since: 'deployStep' },
  description: { type: 'text?', since: 'description', set: 'always', max: 4096, fleet: true },
  driver: { type: 'text', set: 'always', filter: 'driverFilter', fleet: true },
  driver_info: { type: 'json', set: 'always', veil: 'driver', fleet: true },
  driver_internal_info: { type: 'json', since: 'driverInternalInfo', veil: 'driver' },
  extra: { type: 'json', set: 'always', fleet: true },
  fault: { type: 'text?', since: 'fault', filter: true },
  inspection_finished_at: { type: 'time?', since: 'inspection' },
  inspection_started_at: { type: 'time?', since: 'inspection' },
  instance_info: { type: 'json', set: 'always', veil: 'instance' },
  instance_uuid: { type: 'text?', set: 'always', rule: 'uuid', filter: true, short: true },
  last_error: { type: 'text?' },
  lessee: { type: 'text?', since: 'lessee', set: 'always', filter: true, fleet: true },
  maintenance: { type: 'flag', set: 'always', filter: true, short: true },
  maintenance_reason: { type: 'text?' },
  name: { type: 'text?', since: 'names', set: 'always', rule: 'name', short: true, fleet: true },
  network_data: { type: 'json', since: 'networkData', set: 'always', fleet: true },
  owner: { type: 'text?', since: 'owner', set: 'always', filter: true, fleet: true },
  parent_node: { type: 'text?', since: 'childNodes', set: 'always', rule: 'uuid', filter: true },
  power_state: { type: 'text?', short: true },
  properties: { type: 'json', set: 'always', rule: 'sizes', fleet: true },
  protected: { type: 'flag', since: 'protected', set: 'later' },
  protected_reason: { type: 'text?', since: 'protected', set: 'later', max: 4096, with: 'protected' },
  provision_state: { type: 'text', filter: 'provisionStateFilter', short: true },
  provision_updated_at: { type: 'time?' },
  raid_config: { type: 'json', since: 'raidConfig' },
  reservation: { type: 'text?' },
  resource_class: { type: 'text?', since: 'resourceClass', set: 'always', max: 80, filter: true, fleet: true },
  retired: { type: 'flag', since: 'retired', set: 'always', filter: true },
  retired_reason: { type: 'text?', since: 'retired', set: 'always', max: 4096, with: 'retired' },
  secure_boot: { type: 'flag?', since: 'bootMode' },
  shard: { type: 'text?', since: 'shards', set: 'always', filter: true, fleet: true },
  target_power_state: { type: 'text?' },
  target_provision_state: { type: 'text?' },
  target_raid_config: { type: 'json', since: 'raidConfig' },
  traits: { type: 'traits', since: 'traits' },
  bios_interface: { type: 'interface', since: 'bios', set: 'always', fleet: true },
  boot_interface: { type: 'interface', since: 'interfaces', set: 'always', fleet: true },
  console_interface: { type: 'interface', since: 'interfaces', set: 'always', fleet: true },
  deploy_interface: { type: 'interface', since: 'interfaces', set: 'always', fleet: true },
  inspect_interface: { type: 'interface', since: 'interfaces', set: 'always', fleet: true },
  management_interface: { type: 'interface', since: 'interfaces', set: 'always', fleet: true },
  network_interface: { type: 'interface', since: 'networkInterface', set: 'always', fleet: true },
  power_interface: { type: 'interface', since: 'interfaces', set: 'always', fleet: true },
  raid_interface: { type: 'interface', since: 'interfaces', set: 'always', fleet: true },
  rescue_interface: { type: 'interface', since: 'rescue', set: 'always', fleet: true },
  storage_interface: { type: 'interface', since: 'storageInterface', set: 'always', fleet: true },
  vendor_interface: { type: 'interface', since: 'interfaces', set: 'always', fleet: true },
  links: { type: 'links', short: true },
  conductor: { type: 'text?', since: 'conductors', filter: true },
  allocation_uuid: { type: 'joined', since: 'allocations', short: 'associationInRows' },
  reservation_uuid: { type: 'joined', since: 'reservations', short: 'associationInRows', veil: 'hold' },
  chassis_uuid: { type: 'joined', set: 'always', rule: 'uuid', filter: true },
  ports: { type: 'links' },
  states: { type: 'links' },
  portgroups: { type: 'links', since: 'nodePortgroups' },
  volume: { type: 'links', since: 'volume' },
} as const satisfies Record<string, NodeField>

type Fields = typeof FIELDS
export type FieldName = keyof Fields
/** The names of the fields whose lines have this part. */
export type FieldsWith<Part> = { [Name in FieldName]: Fields[Name] extends Part ? Name : never }[FieldName]
type Said<Key extends keyof NodeField> = {
  [Name in FieldName]: Fields[Name] extends Record<Key, infer Value> ? Value : never
}[FieldName]

/** The words for versions that the lines use. */
type SinceWord = Said<'since'> | Exclude<Said<'filter'> | Said<'short'>, true>

export const NODE_FIELDS: Readonly<Record<FieldName, NodeField<SinceWord>>> = FIELDS
export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[]

const having = <Part>(holds: (field: NodeField) => boolean): readonly FieldsWith<Part>[] =>
  FIELD_NAMES.filter((name): name is FieldsWith<Part> => holds(NODE_FIELDS[name]))

/** What a column holds where nothing is set. */
export const BLANKS: { readonly [Type in ColumnType]: ColumnTypes[Type] } = {
  text: '',
  'text?': null,
  flag: 0,
  'flag?': null,
  time: 0,
  'time?': null,
  json: EMPTY,
}

export type ColumnName = FieldsWith<{ type: ColumnType }>
export type NodeColumns = { [Name in ColumnName]: ColumnTypes[Fields[Name]['type']] }
export const COLUMNS = having<{ type: ColumnType }>(({ type }) => type in BLANKS)
export const DOCUMENTS = having<{ type: 'json' }>(({ type }) => type === 'json')
export const SETTABLE = having<{ set: string }>(({ set }) => set !== undefined)
export const FILTERED = having<{ filter: string | true }>(({ filter }) => filter !== undefined)
export const IN_FLEET_FILES = having<{ fleet: true }>(({ fleet }) => fleet === true)
