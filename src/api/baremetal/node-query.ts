// Parses the query of node lists: filters, traits, fields and the page.
import type { TSchema } from 'typebox'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { type NodeFilter, SORT_KEYS, type SortKey, type TraitFilter } from '../../metal/nodes/list.ts'
import { STATES } from '../../metal/nodes/states.ts'
import { isTraitName } from '../../metal/nodes/trait-names.ts'
import { problem } from '../../problems/problem.ts'
import { type FieldName, FILTERED, NODE_FIELDS } from '../../shared/node-fields.ts'
import { expected } from '../../shared/expected.ts'
import { Flag, from, oneOf, Text, Uuid } from '../shapes.ts'
import { unexpected } from '../wanted.ts'
import { Fields } from './collection.ts'
import { ALL, fieldsNamed, shortFields } from './node-fields.ts'
import { type Paging, pagingOf, parsePaging } from './paging.ts'
import { flagParameter, type MetalRequest, parametersOf } from './request.ts'
import { since, type Word } from './versions.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

type Value = string | number | readonly string[]
interface Kind {
  parse: (value: string, name: string) => Value
  shape: TSchema
}
interface Filter extends Kind {
  needs: Word | null
}
const of = (shape: TSchema, parse: Kind['parse']): Kind => ({ shape, parse })

const text = of(Text, value => value)
const flag = of(Flag, (value, name) => (flagParameter(name, value) ? 1 : 0))
const uuid = of(Uuid, (value, name) => {
  const found = canonicalUuid(value)
  if (!found) throw refuse(expected('a UUID', name, value))
  return found
})
const State = oneOf(...STATES)
const state = of(State, (value, name) => {
  if (!STATES.has(value)) throw refuse(unexpected(State, name, value))
  return value
})
const FAULTS = new Set(['none', 'power failure', 'clean failure', 'rescue abort failure'])
const Fault = oneOf(...FAULTS)
const fault = of(Fault, (value, name) => {
  if (!FAULTS.has(value)) throw refuse(unexpected(Fault, name, value))
  return value
})
const group = of(Text, value => value.toLowerCase())
const list = of(Text, value => value.split(',').map(part => part.trim()))

type FilterName = keyof Omit<NodeFilter, 'eligible'>
type FieldFilter = (typeof FILTERED)[number]

/** Filters that are not parsed by the type of their field. */
const KINDS: Partial<Record<FieldFilter, Kind>> = { provision_state: state, fault, conductor_group: group, shard: list }

function fieldFilter(name: FieldFilter): Filter {
  const { type, rule, since, filter } = NODE_FIELDS[name]
  const kind = KINDS[name] ?? (type.startsWith('flag') ? flag : rule === 'uuid' ? uuid : text)
  return { needs: (filter === true ? since : filter) ?? null, ...kind }
}

const MORE: Record<Exclude<FilterName, FieldFilter>, Filter> = {
  associated: { needs: null, ...flag },
  description_contains: { needs: 'description', ...text },
  project: { needs: 'lessee', ...text },
  sharded: { needs: 'shards', ...flag },
  reserved: { needs: 'reservations', ...flag },
  include_children: { needs: 'childNodes', ...flag },
}
const FILTERS = {
  ...Object.fromEntries(FILTERED.map(name => [name, fieldFilter(name)])),
  ...MORE,
} as Record<FilterName, Filter>
const NO_FILTER = Object.fromEntries([...Object.keys(FILTERS), 'eligible'].map(name => [name, null]))

const TRAIT_FILTERS: Record<string, keyof TraitFilter> = {
  traits: 'all',
  'traits-any': 'any',
  'not-traits': 'notAll',
  'not-traits-any': 'notAny',
}
const shapes = {
  ...pagingOf(SORT_KEYS),
  ...Object.fromEntries(
    Object.entries(FILTERS).map(([name, { needs, shape }]) => [name, needs ? from(since(needs), shape) : shape]),
  ),
  ...Object.fromEntries(Object.keys(TRAIT_FILTERS).map(name => [name, from(since('traits'), Text)])),
}
export const NODE_LIST = parametersOf({ ...shapes, fields: Fields, detail: from(since('detailParameter'), Flag) })
export const NODE_LIST_IN_DETAIL = parametersOf(shapes)

interface NodeQuery {
  filter: NodeFilter
  traits: TraitFilter
  paging: Paging<SortKey>
  fields: readonly FieldName[]
}

/** `detailed` is true for the path /nodes/detail. */
export function parseNodeQuery(request: MetalRequest, detailed: boolean): NodeQuery {
  const given = request.parameters(detailed ? NODE_LIST_IN_DETAIL : NODE_LIST)
  const filter: Record<string, Value | null> = { ...NO_FILTER }
  const traits: TraitFilter = { all: null, any: null, notAll: null, notAny: null }
  for (const [name, value] of given) {
    if (Object.hasOwn(FILTERS, name)) {
      const { needs, parse } = FILTERS[name as keyof typeof FILTERS]
      if (needs) request.require(needs, `The filter ${name}`)
      filter[name] = parse(value, name)
    } else if (Object.hasOwn(TRAIT_FILTERS, name)) {
      request.require('traits', `The filter ${name}`)
      traits[TRAIT_FILTERS[name]!] = traitNames(name, value)
    }
  }
  // Clients use this query to find a node to deploy on, so held nodes are left out.
  const isForDeployment = filter['provision_state'] === 'available' && filter['associated'] === 0
  if (isForDeployment && filter['reserved'] === null) filter['eligible'] = 1
  return {
    filter: filter as unknown as NodeFilter,
    traits,
    paging: parsePaging(given, SORT_KEYS),
    fields: detailed ? ALL : fieldsOf(request, given),
  }
}

function fieldsOf({ version, has }: MetalRequest, given: ReadonlyMap<string, string>): readonly FieldName[] {
  const [fields, detail] = [given.get('fields'), given.get('detail')]
  if (detail !== undefined && !has.detailParameter) throw refuse('Unknown parameter detail.')
  const isDetail = detail !== undefined && flagParameter('detail', detail)
  if (fields === undefined) return isDetail ? ALL : shortFields(version)
  if (isDetail) throw refuse("Can't fetch a subset of fields with 'detail' set")
  return fieldsNamed(fields, version)
}

function traitNames(name: string, value: string): string[] {
  const names = value.split(',')
  const wrong = names.find(trait => !isTraitName(trait))
  if (wrong !== undefined)
    throw refuse(
      `Invalid trait "${wrong.slice(0, 100)}" in the filter ${name}: expected names of os-traits or CUSTOM_…, with commas between.`,
    )
  return names
}
