// Reads the bodies of new and changed leases. Unknown members are ignored, as upstream does, unless they look like a
// mistyped one: what a typo leaves out means "anywhere" or "any".
import type {
  AskedLease,
  FlavorAsked,
  HostTerms,
  InstanceTerms,
  LeaseChange,
  NodeTerms,
  TermsChange,
} from '../../leases/types.ts'
import type { Principal } from '../../metal/nodes/provider.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { limits } from '../../shared/limits.ts'
import { checkNewDates } from '../../leases/lifecycle/dates.ts'
import { nearest } from '../../shared/near.ts'
import { parseDate } from './dates.ts'
import { affinityOf, integerOf, nameOf, propertiesOf, refused, shown, textOf } from './fields.ts'
import { withFlavorProperties } from './flavor-properties.ts'
import { LeaseShape, RESERVATION_MEMBERS } from './lease-forms.ts'
import { withNodeProperties } from './node-properties.ts'
import type { Members } from './request.ts'
import { isObject } from '../../shared/is-object.ts'

const COUNT = { min: 1, max: limits.reservationAmountMax }
const SIZE = { min: 1, max: limits.reservationSizeMax }
// An instance that boots from a volume needs no disk.
const DISK = { min: 0, max: limits.reservationSizeMax }
const BEFORE_END = ['', 'snapshot', 'default'] as const

type Read<T> = { [Name in keyof T]-?: (value: unknown, name: string) => T[Name] }

const INSTANCE: Read<Omit<InstanceTerms, 'resource_type'>> = {
  vcpus: (value, name) => integerOf(value, name, SIZE),
  memory_mb: (value, name) => integerOf(value, name, SIZE),
  disk_gb: (value, name) => integerOf(value, name, DISK),
  amount: (value, name) => integerOf(value, name, COUNT),
  affinity: affinityOf,
  resource_properties: propertiesOf,
}

const FLAVOR: Read<Omit<FlavorAsked, 'resource_type'>> = {
  // Command lines send an id of digits as a number.
  flavor_id: (value, name) => nameOf(typeof value === 'number' ? `${value}` : value, name, limits.nameCharsMax),
  amount: INSTANCE.amount,
  affinity: affinityOf,
}

const HOST: Read<Omit<HostTerms, 'resource_type'>> = {
  min: (value, name) => integerOf(value, name, COUNT),
  max: (value, name) => integerOf(value, name, COUNT),
  hypervisor_properties: propertiesOf,
  resource_properties: propertiesOf,
  before_end: beforeEndOf,
}

const NODE: Read<Required<Omit<NodeTerms, 'resource_type'>>> = {
  min: HOST.min,
  max: HOST.max,
  resource_class: (value, name) => nameOf(value, name, limits.nameCharsMax),
  traits: traitsOf,
  candidate_nodes: candidatesOf,
}

function beforeEndOf(value: unknown): HostTerms['before_end'] {
  const found = BEFORE_END.find(action => action === (value ?? ''))
  if (found === undefined) throw refused(`before_end must be "", "snapshot" or "default", not ${shown(value)}.`)
  return found
}

function traitsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > limits.nodeTraitsMax) {
    throw refused(`traits must be a list of at most ${limits.nodeTraitsMax} names, not ${shown(value)}.`)
  }
  return value.map(trait => nameOf(trait, 'a trait', limits.nameCharsMax))
}

function candidatesOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > limits.reservationNodesNamedMax) {
    throw refused(
      `candidate_nodes must be a list of at most ${limits.reservationNodesNamedMax} UUIDs, not ${shown(value)}.`,
    )
  }
  return value.map(given => {
    const uuid = typeof given === 'string' ? canonicalUuid(given) : null
    if (uuid === null) throw refused(`candidate_nodes must have UUIDs of nodes, not ${shown(given)}.`)
    return uuid
  })
}

/** Any node will do if none is named: nothing is kept then. */
function nodeTermsIn(given: Members): Omit<NodeTerms, 'resource_type'> {
  const { candidate_nodes, ...terms } = readAll(NODE, withNodeProperties(given))
  return candidate_nodes.length === 0 ? terms : { ...terms, candidate_nodes }
}

function readAll<T>(fields: Read<T>, given: Members): T {
  const names = Object.keys(fields) as (keyof T & string)[]
  return Object.fromEntries(names.map(name => [name, fields[name](given[name], name)])) as T
}

/** One of the reservations of a new lease. */
function termsOf(value: unknown): AskedLease['reservations'][number] {
  const given = membersOf(value, 'each of reservations')
  requireSpelled(given, IN_RESERVATION, 'a reservation')
  const { resource_type } = given
  if (resource_type === 'virtual:instance') return { resource_type, ...readAll(INSTANCE, given) }
  if (resource_type === 'flavor:instance') return { resource_type, ...readAll(FLAVOR, withFlavorProperties(given)) }
  if (resource_type === 'physical:host') return ranged<HostTerms>({ resource_type, ...readAll(HOST, given) })
  if (resource_type === 'physical:node') {
    return ranged<NodeTerms>({ resource_type, ...nodeTermsIn(given) })
  }
  throw refused(
    `resource_type must be virtual:instance, flavor:instance, physical:host or physical:node, not ${shown(resource_type)}.`,
  )
}

function ranged<T extends { min: number; max: number }>(terms: T): T {
  if (terms.min > terms.max) throw refused(`min (${terms.min}) must not be more than max (${terms.max}).`)
  return terms
}

const CHANGEABLE = { ...INSTANCE, ...FLAVOR, ...HOST, ...NODE }
/** What clients send, and what they send back because they were shown it. */
const IN_RESERVATION = [...Object.keys(CHANGEABLE), 'resource_type', 'id', ...RESERVATION_MEMBERS]
const IN_LEASE = ['before_end_date', ...Object.keys(LeaseShape.properties)]

function requireSpelled(given: Members, known: readonly string[], what: string): void {
  for (const name of Object.keys(given)) {
    const meant = known.includes(name) ? null : nearest(name, known)
    if (meant !== null) throw refused(`${what} has no ${shown(name)}; did you mean ${meant}?`)
  }
}

/** The change of one reservation of a lease: only the given members. */
function termsChangeOf(value: unknown): TermsChange {
  const given = membersOf(value, 'each of reservations')
  requireSpelled(given, IN_RESERVATION, 'a reservation')
  if (given['id'] === undefined) throw refused('id is missing: the reservation that is to change.')
  const change: Members = { id: textOf(given['id'], 'id', limits.nameCharsMax) }
  if (given['resource_type'] !== undefined) {
    change['resource_type'] = textOf(given['resource_type'], 'resource_type', limits.nameCharsMax)
  }
  for (const [name, read] of Object.entries(CHANGEABLE)) {
    if (given[name] !== undefined) change[name] = read(given[name], name)
  }
  return change as TermsChange
}

function listOf<T>(value: unknown, read: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw refused(`reservations must be a list, not ${shown(value)}.`)
  if (value.length > limits.leaseReservationsMax) {
    throw refused(`A lease has at most ${limits.leaseReservationsMax} reservations.`)
  }
  return value.map(read)
}

function membersOf(value: unknown, what: string): Members {
  if (isObject(value)) return value
  throw refused(`${what} must be an object, not ${shown(value)}.`)
}

/** Clients send null, an empty text or nothing to get the default. */
const optionalDate = (value: unknown, name: string, now: number) =>
  value === undefined || value === null || value === '' ? null : parseDate(value, name, now)

function idOf(value: unknown): string | null {
  if (value === undefined || value === null) return null
  const uuid = canonicalUuid(textOf(value, 'id', limits.nameCharsMax))
  if (uuid === null) throw refused(`id must be a UUID, not ${shown(value)}.`)
  return uuid
}

/** The owner that was named; null for the caller. Wrong types are refused for everyone, as the document says. */
function ownerOf(given: Members, caller: Principal | null): Principal | null {
  const named = (name: string) =>
    given[name] === undefined || given[name] === null ? null : nameOf(given[name], name, limits.nameCharsMax)
  const [project, user] = [named('project_id'), named('user_id')]
  if (caller === null) return null
  const owner = { project: project ?? caller.project, user: user ?? caller.user }
  return owner.project === caller.project && owner.user === caller.user ? null : owner
}

function reservationIdsOf(given: readonly unknown[]): (string | null)[] {
  const ids = given.map(one => idOf((one as Members)['id']))
  const chosen = ids.filter(id => id !== null)
  if (new Set(chosen).size < chosen.length) throw refused('Two reservations have the same id.')
  return ids
}

function requireGiven(given: Members, ...names: string[]): void {
  for (const name of names) {
    if (given[name] === undefined || given[name] === null) throw refused(`Missing parameter ${name}.`)
  }
}

/**
 * `may` is a caller who may bring leases of others. A lease that comes from elsewhere has its id; owners and ids of
 * reservations in any other body are ignored, as upstream does: clients send back what they were shown.
 */
export function newLeaseOf(given: Members, now: number, may: Principal | null = null): AskedLease {
  requireSpelled(given, IN_LEASE, 'a lease')
  requireGiven(given, 'name', 'start_date', 'end_date')
  const start_at = parseDate(given['start_date'], 'start_date', now)
  const end_at = parseDate(given['end_date'], 'end_date', now)
  // Before the reservations, as upstream.
  checkNewDates({ start_at, end_at }, now)
  requireGiven(given, 'reservations')
  const reservations = listOf(given['reservations'], termsOf)
  if (reservations.length === 0) throw refused('reservations must name at least one reservation.')
  const id = idOf(given['id'])
  const mover = id === null ? null : may
  return {
    id,
    owner: ownerOf(given, mover),
    reservation_ids: mover === null ? [] : reservationIdsOf(given['reservations'] as unknown[]),
    name: nameOf(given['name'], 'name', limits.leaseNameCharsMax),
    start_at,
    end_at,
    before_end_at: optionalDate(given['before_end_date'], 'before_end_date', now),
    reservations,
  }
}

/** Only the given members change. Null counts as not given, because clients send null for what they don't set. */
export function leaseChangeOf(given: Members, now: number): LeaseChange {
  requireSpelled(given, IN_LEASE, 'a lease')
  const has = (name: string) => given[name] !== undefined && given[name] !== null
  return {
    ...(has('name') && { name: nameOf(given['name'], 'name', limits.leaseNameCharsMax) }),
    ...(has('start_date') && { start_at: parseDate(given['start_date'], 'start_date', now) }),
    ...(has('end_date') && { end_at: parseDate(given['end_date'], 'end_date', now) }),
    ...(has('before_end_date') && { before_end_at: parseDate(given['before_end_date'], 'before_end_date', now) }),
    ...(has('reservations') && { reservations: changesOf(given['reservations']) }),
  }
}

function changesOf(value: unknown): TermsChange[] {
  const changes = listOf(value, termsChangeOf)
  const ids = new Set(changes.map(({ id }) => id))
  if (ids.size < changes.length) throw refused('A reservation is named twice.')
  return changes
}
