// The fields of a node: from which version on each is there, and how it is written. As text, not as objects:
// most of a long list is JSON already, and parsing it only to write it again was most of the work.
import { type TSchema, Type } from 'typebox'
import { INTERFACES } from '../../metal/drivers/port.ts'
import { limits } from '../../shared/limits.ts'
import type { ShelvedNode } from '../../metal/nodes/shelf.ts'
import type { Node } from '../../metal/nodes/rows.ts'
import { problem } from '../../problems/problem.ts'
import { Document, Flag, FlagOrNull, from as newIn, named, orNull, Text, TextOrNull, Uuid } from '../shapes.ts'
import { inPart } from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { INSTANCE_SECRETS, masked } from './secrets.ts'
import { requireWord, since, type Version, type Word } from './versions.ts'

/** What a field may need besides the node. */
interface Scene {
  base: string
  version: Version
  veiled: Veiled
}

/** What is not shown. */
interface Veiled {
  /** How the machine is driven. */
  driver: boolean
  /** The id of the hold on it, which would be good for deploying it. */
  hold: boolean
  /** Where the image is got, and with which keys one gets in. */
  instance: boolean
}

const NOTHING: Veiled = { driver: false, hold: false, instance: false }

type Show = (node: ShelvedNode, scene: Scene) => string

interface Written {
  show: Show
  /** The same for the document. */
  shape: TSchema
}
const as = (shape: TSchema, show: Show): Written => ({ show, shape })

const words = (column: keyof Node, shape: TSchema = TextOrNull) =>
  as(shape, node => (node[column] === null ? 'null' : JSON.stringify(node[column])))
const flag = (column: keyof Node, shape: TSchema = Flag) =>
  as(shape, node => (node[column] === null ? 'null' : node[column] === 1 ? 'true' : 'false'))
const json = (column: keyof Node) => as(Document, node => node[column] as string)
const time = (column: keyof Node) => as(orNull(Time), node => JSON.stringify(shownTime(node[column] as number | null)))
const state = (column: 'provision_state' | 'target_provision_state') =>
  as(TextOrNull, (node, { version }) =>
    node[column] === 'available' && !version.has.availableState ? 'null' : JSON.stringify(node[column]),
  )
const links = (below = '') => as(Links, ({ uuid }, { base }) => JSON.stringify(linksTo(base, `nodes/${uuid}${below}`)))

// Nodes of a kind have the same interfaces, so the last text is mostly the next one too.
let lastText = ''
let lastInterfaces: Record<string, string> = {}
const interfaceField = (name: string) =>
  as(TextOrNull, ({ interfaces }) => {
    if (interfaces !== lastText) {
      lastInterfaces = JSON.parse(interfaces) as Record<string, string>
      lastText = interfaces
    }
    return JSON.stringify(lastInterfaces[name] ?? null)
  })

interface Field extends Written {
  needs: Word | null
}
const always = (written: Written): Field => ({ needs: null, ...written })
const from = (needs: Word, { show, shape }: Written): Field => ({ needs, show, shape: newIn(since(needs), shape) })

const INTERFACE_SINCE: Partial<Record<string, Word>> = {
  network: 'networkInterface',
  storage: 'storageInterface',
  rescue: 'rescue',
  bios: 'bios',
}

export const FIELDS: Record<string, Field> = {
  uuid: always(words('uuid', Uuid)),
  created_at: always(time('created_at')),
  updated_at: always(time('updated_at')),
  automated_clean: from('automatedClean', flag('automated_clean', FlagOrNull)),
  boot_mode: from('bootMode', words('boot_mode')),
  clean_step: from('cleanStep', json('clean_step')),
  conductor_group: from('conductorGroup', words('conductor_group', Text)),
  console_enabled: always(flag('console_enabled')),
  deploy_step: from('deployStep', json('deploy_step')),
  description: from('description', words('description')),
  driver: always(words('driver', Text)),
  driver_info: always(as(Document, (node, { veiled }) => (veiled.driver ? '{}' : masked(node.driver_info)))),
  driver_internal_info: from(
    'driverInternalInfo',
    as(Document, (node, { veiled }) => (veiled.driver ? '{}' : masked(node.driver_internal_info))),
  ),
  extra: always(json('extra')),
  fault: from('fault', words('fault')),
  inspection_finished_at: from('inspection', time('inspection_finished_at')),
  inspection_started_at: from('inspection', time('inspection_started_at')),
  instance_info: always(
    as(Document, (node, { veiled }) =>
      masked(node.instance_info, INSTANCE_SECRETS[veiled.instance ? 'others' : 'operators']),
    ),
  ),
  instance_uuid: always(words('instance_uuid')),
  last_error: always(words('last_error')),
  lessee: from('lessee', words('lessee')),
  maintenance: always(flag('maintenance')),
  maintenance_reason: always(words('maintenance_reason')),
  name: from('names', words('name')),
  network_data: from('networkData', json('network_data')),
  owner: from('owner', words('owner')),
  power_state: always(words('power_state')),
  properties: always(json('properties')),
  protected: from('protected', flag('protected')),
  protected_reason: from('protected', words('protected_reason')),
  provision_state: always(state('provision_state')),
  provision_updated_at: always(time('provision_updated_at')),
  raid_config: from('raidConfig', json('raid_config')),
  reservation: always(words('reservation')),
  resource_class: from('resourceClass', words('resource_class')),
  retired: from('retired', flag('retired')),
  retired_reason: from('retired', words('retired_reason')),
  secure_boot: from('bootMode', flag('secure_boot', FlagOrNull)),
  shard: from('shards', words('shard')),
  target_power_state: always(words('target_power_state')),
  target_provision_state: always(state('target_provision_state')),
  target_raid_config: from('raidConfig', json('target_raid_config')),
  traits: from(
    'traits',
    as(Type.Array(Text), ({ traits }) => JSON.stringify(traits)),
  ),
  ...Object.fromEntries(
    INTERFACES.map(name => [`${name}_interface`, from(INTERFACE_SINCE[name] ?? 'interfaces', interfaceField(name))]),
  ),
  links: always(links()),
  conductor: from('conductors', words('conductor')),
  allocation_uuid: from('allocations', words('allocation_uuid')),
  reservation_uuid: from(
    'reservations',
    as(TextOrNull, (node, { veiled }) => JSON.stringify(veiled.hold ? null : node.reservation_uuid)),
  ),
  chassis_uuid: always(words('chassis_uuid')),
  ports: always(links('/ports')),
  states: always(links('/states')),
  portgroups: from('nodePortgroups', links('/portgroups')),
  volume: from('volume', links('/volume')),
}

const SHORT = ['uuid', 'name', 'instance_uuid', 'maintenance', 'power_state', 'provision_state', 'links']
const SHORT_WITH_ASSOCIATIONS = [...SHORT, 'allocation_uuid', 'reservation_uuid']
export const shortFields = ({ has }: Version) => (has.associationInRows ? SHORT_WITH_ASSOCIATIONS : SHORT)
export const ALL = Object.keys(FIELDS)

const shapesOf = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, FIELDS[name]!.shape]))
export const NodeShape = named('Node', shapesOf(ALL))
/** Which members a row has says the client, or it has the short ones. */
export const NodeRow = inPart(NodeShape)
export const nodeShapeOf = (title: string, names: readonly string[]) => named(title, shapesOf(names))

/** The fields that a client named, or a refusal. */
export function fieldsNamed(given: string, version: Version): string[] {
  requireWord(version, 'fields', 'Use of the fields parameter')
  const names = [...new Set(given.split(',').map(name => name.trim()))]
  for (const name of names) {
    if (!Object.hasOwn(FIELDS, name)) {
      throw problem('invalid_parameter', { reason: `Field(s) "${name.slice(0, 100)}" are not valid` })
    }
    requireField(name, version)
  }
  return names.includes('links') ? names : [...names, 'links']
}

/** Refuses a field that the client's version does not have. */
export function requireField(name: string, version: Version): void {
  const needs = FIELDS[name]?.needs
  if (needs) requireWord(version, needs, `The field ${name}`)
}

type Writer = (node: ShelvedNode) => string

const writers = new Map<string, Writer>()

/** Writes nodes with these fields, leaving out what the client's version doesn't know; the same one for the same wish. */
export function writer(
  names: readonly string[],
  { base, version }: Omit<Scene, 'veiled'>,
  veiled: Veiled = NOTHING,
): Writer {
  const key = `${version.minor} ${base} ${veiled.driver} ${veiled.hold} ${veiled.instance} ${names.join()}`
  if (writers.size >= limits.nodeWritersMax && !writers.has(key)) writers.clear()
  return writers.getOrInsertComputed(key, () => newWriter(names, { base, version, veiled }))
}

function newWriter(names: readonly string[], scene: Scene): Writer {
  const { has } = scene.version
  const parts = names
    .filter(name => !FIELDS[name]!.needs || has[FIELDS[name]!.needs])
    .map((name, i) => ({ key: `${i === 0 ? '{' : ','}"${name}":`, show: FIELDS[name]!.show }))
  return node => {
    let text = ''
    for (const { key, show } of parts) text += key + show(node, scene)
    return `${text}}`
  }
}
