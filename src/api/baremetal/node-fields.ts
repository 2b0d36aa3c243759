// Writes nodes as text, not as objects: most of a node is stored as JSON, and parsing it would be most of the work.
import type { TSchema } from 'typebox'
import { limits } from '../../shared/limits.ts'
import {
  FIELD_NAMES,
  type FieldName,
  type FieldsWith,
  NODE_FIELDS,
  type NodeField,
  type Veil,
} from '../../shared/node-fields.ts'
import type { ShelvedNode } from '../../metal/nodes/shelf.ts'
import type { Node } from '../../metal/nodes/rows.ts'
import { problem } from '../../problems/problem.ts'
import { Document, Flag, FlagOrNull, from as newIn, named, orNull, Text, TextOrNull, Uuid } from '../shapes.ts'
import { MEMBERS, shownIn, shownText, WORDS } from '../../shared/json.ts'
import { inPart, unknownField } from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { INSTANCE_SECRETS, masked } from './secrets.ts'
import { requireWord, since, type Version, type Word } from './versions.ts'
import { Type } from '../../shared/type.ts'

/** What a field may need besides the node. */
interface Scene {
  base: string
  version: Version
  veiled: Veiled
}

/** What the caller may not see. */
interface Veiled extends Record<Veil, boolean> {
  /** How the hardware is driven, such as driver_info. */
  driver: boolean
  /** The id of its reservation: a caller who has it could deploy the node. */
  hold: boolean
  /** The image's address and the SSH keys. */
  instance: boolean
}

const NOTHING: Veiled = { driver: false, hold: false, instance: false }

type Show = (node: ShelvedNode, scene: Scene) => string

/** Fields that the row has under the same name. */
type Kept = FieldName & keyof Node

interface Written {
  show: Show
  /** The field's schema, for the document. */
  shape: TSchema
}
const as = (shape: TSchema, show: Show): Written => ({ show, shape })

const words = (name: Kept, shape: TSchema = TextOrNull) =>
  as(shape, node => (node[name] === null ? 'null' : JSON.stringify(node[name])))
const flag = (name: Kept, shape: TSchema = Flag) =>
  as(shape, node => (node[name] === null ? 'null' : node[name] === 1 ? 'true' : 'false'))
const time = (name: Kept) => as(orNull(Time), node => JSON.stringify(shownTime(node[name] as number | null)))
const state = (name: 'provision_state' | 'target_provision_state') =>
  as(TextOrNull, (node, { version }) =>
    node[name] === 'available' && !version.has.availableState ? 'null' : JSON.stringify(node[name]),
  )
const links = (below: string) =>
  as(Links, ({ uuid }, { base }) => JSON.stringify(linksTo(base, `nodes/${uuid}${below}`)))

// A cache of one: similar nodes have the same interfaces, so the last text usually fits the next node too.
let lastText = ''
let lastInterfaces: Record<string, string> = {}
const interfaceNamed = (field: string) => {
  const name = field.slice(0, -'_interface'.length)
  return as(TextOrNull, ({ interfaces }) => {
    if (interfaces !== lastText) {
      lastInterfaces = shownIn(interfaces, WORDS)
      lastText = interfaces
    }
    return JSON.stringify(lastInterfaces[name] ?? null)
  })
}

interface Field extends Written {
  needs: Word | null
}

/** How a field of each type is written. */
const TYPES: { [Type in NodeField['type']]: (name: FieldsWith<{ type: Type }>) => Written } = {
  text: name => words(name, Text),
  'text?': name => words(name),
  joined: name => words(name),
  flag: name => flag(name),
  'flag?': name => flag(name, FlagOrNull),
  time,
  'time?': time,
  json: name => as(Document, node => shownText(node[name], MEMBERS)),
  interface: interfaceNamed,
  links: name => links(name === 'links' ? '' : `/${name}`),
  traits: () => as(Type.Array(Text), ({ traits }) => JSON.stringify(traits)),
}

/** How a veiled field is written: some callers see less of it. */
const VEILS: { [Name in Veil]: (name: FieldsWith<{ veil: Name }>) => Written } = {
  driver: name => as(Document, (node, { veiled }) => (veiled.driver ? '{}' : masked(node[name]))),
  instance: name =>
    as(Document, (node, { veiled }) => masked(node[name], INSTANCE_SECRETS[veiled.instance ? 'others' : 'operators'])),
  hold: name => as(TextOrNull, (node, { veiled }) => JSON.stringify(veiled.hold ? null : node[name])),
}

/** Fields that are not written as their type says. */
const OTHERWISE: Partial<Record<FieldName, Written>> = {
  uuid: words('uuid', Uuid),
  provision_state: state('provision_state'),
  target_provision_state: state('target_provision_state'),
}

function fieldOf(name: FieldName): Field {
  const { type, veil, since: needs } = NODE_FIELDS[name]
  const { show, shape } = OTHERWISE[name] ?? (veil ? VEILS[veil] : TYPES[type])(name as never)
  return needs ? { needs, show, shape: newIn(since(needs), shape) } : { needs: null, show, shape }
}

const FIELDS = Object.fromEntries(FIELD_NAMES.map(name => [name, fieldOf(name)])) as Record<FieldName, Field>
export const ALL = FIELD_NAMES
const isField = (name: string): name is FieldName => Object.hasOwn(FIELDS, name)

const shortRows = new Map<Version, readonly FieldName[]>()
/** The fields in lists, unless the client selects others. */
export const shortFields = (version: Version) =>
  shortRows.getOrInsertComputed(version, ({ has }) =>
    FIELD_NAMES.filter(name => {
      const { short } = NODE_FIELDS[name]
      return short === true || (short !== undefined && has[short])
    }),
  )

const shapesOf = (names: readonly FieldName[]) => Object.fromEntries(names.map(name => [name, FIELDS[name].shape]))
export const NodeShape = named('Node', shapesOf(ALL))
/** A row of a list: it has the selected fields, or the short ones. */
export const NodeRow = inPart(NodeShape)
export const nodeShapeOf = (title: string, names: readonly FieldName[]) => named(title, shapesOf(names))

/** The fields that the client selects. Unknown ones are refused. */
export function fieldsNamed(given: string, version: Version): FieldName[] {
  requireWord(version, 'fields', 'Use of the fields parameter')
  const names = [...new Set(given.split(',').map(name => name.trim()))].map(name => {
    if (!isField(name)) {
      throw problem('invalid_parameter', { reason: unknownField(name, ALL) })
    }
    requireField(name, version)
    return name
  })
  return names.includes('links') ? names : [...names, 'links']
}

/** Refuses a field that the client's version does not have. */
export function requireField(name: string, version: Version): void {
  const needs = isField(name) && FIELDS[name].needs
  if (needs) requireWord(version, needs, `The field ${name}`)
}

type Writer = (node: ShelvedNode) => string

const writers = new Map<string, Writer>()

/** A cached writer of nodes with these fields. It leaves out fields that the client's version doesn't have. */
export function writer(
  names: readonly FieldName[],
  { base, version }: Omit<Scene, 'veiled'>,
  veiled: Veiled = NOTHING,
): Writer {
  const key = `${version.minor} ${base} ${veiled.driver} ${veiled.hold} ${veiled.instance} ${names.join()}`
  if (writers.size >= limits.nodeWritersMax && !writers.has(key)) writers.clear()
  return writers.getOrInsertComputed(key, () => newWriter(names, { base, version, veiled }))
}

function newWriter(names: readonly FieldName[], scene: Scene): Writer {
  const { has } = scene.version
  const parts = names
    .map(name => ({ name, ...FIELDS[name] }))
    .filter(({ needs }) => !needs || has[needs])
    .map(({ name, show }, i) => ({ key: `${i === 0 ? '{' : ','}"${name}":`, show }))
  return node => {
    let text = ''
    for (const { key, show } of parts) text += key + show(node, scene)
    return `${text}}`
  }
}
