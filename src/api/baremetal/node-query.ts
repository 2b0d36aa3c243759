// What a list of nodes is asked for: filters, traits, fields and the page.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { type NodeFilter, SORT_KEYS, type SortKey, type TraitFilter } from '../../metal/node-list.ts'
import { STATES } from '../../metal/states.ts'
import { isTraitName } from '../../metal/trait-names.ts'
import { problem } from '../../problem.ts'
import { ALL, fieldsNamed, shortFields } from './node-fields.ts'
import { PAGING, type Paging, parsePaging } from './paging.ts'
import { flagParameter, type MetalRequest } from './request.ts'
import type { Word } from './versions.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

type Value = string | number | readonly string[]
interface Filter {
  needs: Word | null
  parse: (value: string, name: string) => Value
}

const text = (value: string) => value
const flag = (value: string, name: string) => (flagParameter(name, value) ? 1 : 0)
const uuid = (value: string, name: string) => {
  const found = canonicalUuid(value)
  if (!found) throw refuse(`Expected a UUID but received ${value.slice(0, 100)} for ${name}.`)
  return found
}
const state = (value: string) => {
  if (!STATES.has(value)) throw refuse(`Invalid provision state: ${value.slice(0, 100)}.`)
  return value
}
const FAULTS = new Set(['power failure', 'clean failure', 'rescue abort failure'])
const fault = (value: string) => {
  if (value !== 'none' && !FAULTS.has(value)) throw refuse(`Unrecognized fault "${value.slice(0, 100)}".`)
  return value
}

const FILTERS: Record<keyof Omit<NodeFilter, 'eligible'>, Filter> = {
  instance_uuid: { needs: null, parse: uuid },
  associated: { needs: null, parse: flag },
  maintenance: { needs: null, parse: flag },
  chassis_uuid: { needs: null, parse: uuid },
  provision_state: { needs: 'provisionStateFilter', parse: state },
  driver: { needs: 'driverFilter', parse: text },
  resource_class: { needs: 'resourceClass', parse: text },
  fault: { needs: 'fault', parse: fault },
  conductor_group: { needs: 'conductorGroup', parse: value => value.toLowerCase() },
  conductor: { needs: 'conductors', parse: text },
  owner: { needs: 'owner', parse: text },
  description_contains: { needs: 'description', parse: text },
  retired: { needs: 'retired', parse: flag },
  lessee: { needs: 'lessee', parse: text },
  project: { needs: 'lessee', parse: text },
  shard: { needs: 'shards', parse: value => value.split(',').map(part => part.trim()) },
  sharded: { needs: 'shards', parse: flag },
  reserved: { needs: 'reservations', parse: flag },
}
const NO_FILTER = Object.fromEntries([...Object.keys(FILTERS), 'eligible'].map(name => [name, null]))

const TRAIT_FILTERS: Record<string, keyof TraitFilter> = {
  traits: 'all',
  'traits-any': 'any',
  'not-traits': 'notAll',
  'not-traits-any': 'notAny',
}
const KNOWN = new Set([...PAGING, ...Object.keys(FILTERS), ...Object.keys(TRAIT_FILTERS), 'fields', 'detail'])
const KNOWN_IN_DETAIL = new Set([...KNOWN].filter(name => name !== 'fields' && name !== 'detail'))

export interface NodeQuery {
  filter: NodeFilter
  traits: TraitFilter
  paging: Paging<SortKey>
  fields: readonly string[]
}

/** `detailed` is for the path that says so by itself. */
export function parseNodeQuery(request: MetalRequest, detailed: boolean): NodeQuery {
  const given = request.parameters(detailed ? KNOWN_IN_DETAIL : KNOWN)
  const filter: Record<string, Value | null> = { ...NO_FILTER }
  const traits: TraitFilter = { all: null, any: null, notAll: null, notAny: null }
  for (const [name, value] of given) {
    if (Object.hasOwn(FILTERS, name)) {
      const { needs, parse } = FILTERS[name as keyof typeof FILTERS]
      if (needs) request.require(needs, `The filter ${name}`)
      filter[name] = parse(value, name)
    } else if (Object.hasOwn(TRAIT_FILTERS, name)) {
      request.require('traits', `The filter ${name}`)
      traits[TRAIT_FILTERS[name]!] = traitNames(name, request.query.getAll(name))
    }
  }
  // Asking so is how clients look for a node to deploy on: one that is held is none.
  const isForDeployment = filter['provision_state'] === 'available' && filter['associated'] === 0
  if (isForDeployment && filter['reserved'] === null) filter['eligible'] = 1
  return {
    filter: filter as unknown as NodeFilter,
    traits,
    paging: parsePaging(given, SORT_KEYS),
    fields: detailed ? ALL : fieldsOf(request, given),
  }
}

function fieldsOf({ version, has }: MetalRequest, given: ReadonlyMap<string, string>): readonly string[] {
  const [fields, detail] = [given.get('fields'), given.get('detail')]
  if (detail !== undefined && !has.detailParameter) throw refuse('Unknown parameter detail.')
  const isDetail = detail !== undefined && flagParameter('detail', detail)
  if (fields === undefined) return isDetail ? ALL : shortFields(version)
  if (isDetail) throw refuse("Can't fetch a subset of fields with 'detail' set")
  return fieldsNamed(fields, version)
}

function traitNames(name: string, values: readonly string[]): string[] {
  if (values.length > 1) throw refuse(`The filter ${name} is given more than once; separate its traits by commas.`)
  const names = values[0]!.split(',')
  const wrong = names.find(trait => !isTraitName(trait))
  if (wrong !== undefined) throw refuse(`Invalid trait "${wrong.slice(0, 100)}" in the filter ${name}.`)
  return names
}
