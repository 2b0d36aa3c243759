// What is in each column of JSON. The compiler demands a line for each: fsck reads them all.
import type { Selectable } from 'kysely'
import { isObject } from '../../shared/is-object.ts'
import {
  AMOUNTS,
  DOCUMENT,
  type Json,
  type JsonText,
  MEMBERS,
  OBJECTS,
  type Shape,
  TEXTS,
  WORDS,
} from '../../shared/json.ts'
import type { Schema } from '../schema.ts'
import type { Wish } from './compute.ts'
import type { Terms } from './leases.ts'
import type { Subject } from '../transaction.ts'

type ValueIn<Column> = NonNullable<Column> extends JsonText<infer Value> ? Value : never
type JsonOf<Table> = {
  [Name in keyof Table as ValueIn<Table[Name]> extends never ? never : Name]: Shape<ValueIn<Table[Name]>>
}
type JsonTables = { [Name in keyof Schema]: JsonOf<Selectable<Schema[Name]>> }
/** Tables without such columns are left out. */
type JsonColumns = {
  [Name in keyof JsonTables as keyof JsonTables[Name] extends never ? never : Name]: JsonTables[Name]
}

const isTexts = TEXTS.fits
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const isText = (value: unknown) => typeof value === 'string'

export const WISH: Shape<Wish> = {
  words: 'what a server asks for',
  fits: value => isObject(value) && isObject(value['groups']) && Object.values(value['groups']).every(isGroup),
  empty: () => ({ groups: {}, groupPolicy: null }),
}
const isGroup = (group: unknown) =>
  isObject(group) && AMOUNTS.fits(group['resources']) && isTexts(group['required']) && isTexts(group['forbidden'])

const TERMS_FIT: { [Type in Terms['resource_type']]: (terms: Record<string, unknown>) => boolean } = {
  'virtual:instance': one =>
    [one['vcpus'], one['memory_mb'], one['disk_gb'], one['amount']].every(isCount) &&
    isText(one['resource_properties']),
  'flavor:instance': one =>
    isText(one['flavor_id']) && isCount(one['amount']) && isObject(one['flavor']) && isNeeds(one['needs']),
  'physical:host': one => isRange(one) && isText(one['hypervisor_properties']) && isText(one['resource_properties']),
  'physical:node': one =>
    isRange(one) &&
    isText(one['resource_class']) &&
    isTexts(one['traits']) &&
    (one['candidate_nodes'] === undefined || isTexts(one['candidate_nodes'])),
}
const isRange = ({ min, max }: Record<string, unknown>) =>
  isCount(min) && isCount(max) && (min as number) <= (max as number)
const isNeeds = (needs: unknown) =>
  isObject(needs) &&
  isTexts(needs['required']) &&
  isTexts(needs['forbidden']) &&
  isObject(needs['size']) &&
  [needs['size']['vcpus'], needs['size']['memory_mb'], needs['size']['disk_gb']].every(isCount) &&
  (needs['size']['extras'] === undefined || AMOUNTS.fits(needs['size']['extras']))

/** Nothing can stand for these: who can't read them doesn't know what was promised. */
export const TERMS: Shape<Terms> = {
  words: 'the terms of a reservation',
  fits: value =>
    isObject(value) &&
    Object.hasOwn(TERMS_FIT, String(value['resource_type'])) &&
    TERMS_FIT[value['resource_type'] as Terms['resource_type']](value),
  empty: () => ({ resource_type: 'physical:node', min: 0, max: 0, resource_class: '', traits: [] }),
}

/** The work on a node. */
export const WORK: Shape<object> = {
  words: 'the work on a node',
  fits: value => {
    if (!isObject(value)) return false
    const { kind, steps, step, target, question } = value
    if (kind === 'power') return isText(target)
    if (kind === 'call') return isObject(question)
    return kind === 'provision' && isTexts(steps) && isCount(step) && (step as number) < (steps as string[]).length
  },
  empty: () => ({}),
}

export const SUBJECTS: Shape<readonly Subject[]> = {
  words: 'a list of objects that were changed',
  fits: value => OBJECTS.fits(value) && (value as Json[]).every(one => isText(one['kind']) && isText(one['id'])),
  empty: () => [],
}

export const JSON_COLUMNS: JsonColumns = {
  calendars: { roles: TEXTS },
  flavors: { extra_specs: WORDS },
  servers: { wish: WISH, metadata: WORDS, tags: TEXTS },
  moves: { wish_before: WISH },
  application_credentials: { roles: TEXTS },
  leasables: { extras_ceiling: AMOUNTS },
  lease_reservations: { terms: TERMS },
  bookings: { extras: AMOUNTS },
  log: { objects: SUBJECTS },
  chassis: { extra: MEMBERS },
  conductors: { drivers: TEXTS },
  nodes: {
    clean_step: MEMBERS,
    deploy_step: MEMBERS,
    driver_info: MEMBERS,
    driver_internal_info: MEMBERS,
    extra: MEMBERS,
    instance_info: MEMBERS,
    network_data: MEMBERS,
    properties: MEMBERS,
    raid_config: MEMBERS,
    target_raid_config: MEMBERS,
    interfaces: WORDS,
    transition: WORK,
  },
  allocations: { traits: TEXTS, candidate_nodes: TEXTS, extra: MEMBERS, reasons: MEMBERS },
  ports: { local_link_connection: MEMBERS, internal_info: MEMBERS, extra: MEMBERS },
  node_documents: { document: DOCUMENT },
  calls: { args: MEMBERS, answer: DOCUMENT },
  deploy_templates: { steps: OBJECTS, extra: MEMBERS },
  volume_connectors: { extra: MEMBERS },
  volume_targets: { properties: MEMBERS, extra: MEMBERS },
  portgroups: { properties: MEMBERS, extra: MEMBERS },
  webhooks: { types: TEXTS },
  deliveries: { body: MEMBERS },
}
