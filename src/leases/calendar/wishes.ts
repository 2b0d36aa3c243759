// Translates the terms of a reservation into a wish for the calendar, and its places into bookings.
import { problem } from '../../problems/problem.ts'
import { add, type Booked, type Leasable, type Size, type Window } from './calendar.ts'
import type { Wish } from './candidates.ts'
import type { RevisedLeasable } from './resources.ts'
import { matches, parseProperties } from '../pool/properties.ts'
import { type FlavorTerms, type InstanceTerms, isOfInstances, type NodeTerms, type Terms } from '../types.ts'
import type { Extras } from '../../store/schema/leases.ts'
import type { ProviderId } from '../../store/schema/ids.ts'

/** The slots that a reservation already has. */
interface Held {
  places: ReadonlyMap<ProviderId, number>
  /** They are in use and can't be taken away. */
  isFixed: boolean
}

const NOTHING: Held = { places: new Map(), isFixed: false }

export function wishOf(terms: Terms, { places, isFixed }: Held = NOTHING): Wish {
  const has = {
    ...(terms.resource_type === 'physical:node' && namedIn(terms)),
    held: places,
    isFixed,
    accepts: acceptsOf(terms),
    ...(terms.resource_type === 'flavor:instance' && { whyNot: (leasable: Leasable) => lackOf(leasable, terms) }),
  }
  if (isOfInstances(terms)) {
    const { amount, affinity } = terms
    return { kind: 'slots', size: sizeOf(terms), amount, affinity, ...has }
  }
  if (terms.min > terms.max) throw problem('lease_invalid', { reason: 'min must not be more than max.' })
  return { kind: 'whole', min: terms.min, max: terms.max, ...has }
}

function sizeOf(terms: InstanceTerms | FlavorTerms): Size {
  if (terms.resource_type === 'flavor:instance') return terms.needs.size
  const { vcpus, memory_mb, disk_gb } = terms
  return { vcpus, memory_mb, disk_gb }
}

function namedIn({ resource_class, candidate_nodes = [] }: NodeTerms): Pick<Wish, 'resourceClass' | 'candidates'> {
  return {
    resourceClass: resource_class,
    ...(candidate_nodes.length > 0 && { candidates: new Set(candidate_nodes) }),
  }
}

function acceptsOf(terms: Terms): (leasable: Leasable) => boolean {
  if (terms.resource_type === 'physical:node') {
    const { resource_class, traits } = terms
    const { candidates } = namedIn(terms)
    return leasable =>
      leasable.kind === 'node' &&
      (candidates === undefined || candidates.has(leasable.name)) &&
      leasable.facts('resource_class') === resource_class &&
      traits.every(trait => (leasable as RevisedLeasable).traits.has(trait))
  }
  if (terms.resource_type === 'flavor:instance') return leasable => lackOf(leasable, terms) === null
  const queries = [parseProperties(terms.resource_properties)]
  if (terms.resource_type === 'physical:host') queries.push(parseProperties(terms.hypervisor_properties))
  return ({ kind, facts }) => kind === 'host' && queries.every(query => matches(query, facts))
}

/** Why servers of the flavor can't run on it at all; null when they can. How much is free is another question. */
function lackOf(leasable: Leasable, { needs }: FlavorTerms): string | null {
  if (leasable.kind !== 'host') return 'it is no host'
  const { traits, units } = leasable as RevisedLeasable
  const absent = needs.required.find(trait => !traits.has(trait))
  if (absent !== undefined) return `it does not have the trait ${absent}`
  const present = needs.forbidden.find(trait => traits.has(trait))
  if (present !== undefined) return `it has the trait ${present}`
  for (const [name, amount] of Object.entries(classesIn(needs.size))) {
    const unit = units.get(name)
    if (!unit) return `it has no ${name}`
    if (amount < unit.min_unit || amount > unit.max_unit || amount % unit.step_size !== 0) {
      return `it does not give ${amount} ${name} to one server`
    }
  }
  return null
}

function classesIn({ vcpus, memory_mb, disk_gb, extras }: Size): Extras {
  const all = { VCPU: vcpus, MEMORY_MB: memory_mb, DISK_GB: disk_gb, ...extras }
  return Object.fromEntries(Object.entries(all).filter(([, amount]) => amount > 0))
}

const NO_SIZE: Size = { vcpus: 0, memory_mb: 0, disk_gb: 0 }

/** The booking for some slots of a reservation on one host or node. */
export function bookedFor(
  lease: string,
  reservation: string,
  terms: Terms,
  window: Window & { end: number },
  slots: number,
): Booked {
  const size = isOfInstances(terms) ? sizeOf(terms) : NO_SIZE
  const booked: Booked = { lease, reservation, ...window, slots, isWhole: !isOfInstances(terms), ...NO_SIZE }
  add(booked, size, slots)
  return booked
}
