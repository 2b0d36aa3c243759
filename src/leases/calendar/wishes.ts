// Translates the terms of a reservation into a wish for the calendar, and its places into bookings.
import { problem } from '../../problems/problem.ts'
import type { Booked, Leasable, Window } from './calendar.ts'
import type { Wish } from './candidates.ts'
import type { RevisedLeasable } from './resources.ts'
import { matches, parseProperties } from '../pool/properties.ts'
import type { NodeTerms, Terms } from '../types.ts'
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
  }
  if (terms.resource_type === 'virtual:instance') {
    const { vcpus, memory_mb, disk_gb, amount, affinity } = terms
    return { kind: 'slots', size: { vcpus, memory_mb, disk_gb }, amount, affinity, ...has }
  }
  if (terms.min > terms.max) throw problem('lease_invalid', { reason: 'min must not be more than max.' })
  return { kind: 'whole', min: terms.min, max: terms.max, ...has }
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
  const queries = [parseProperties(terms.resource_properties)]
  if (terms.resource_type === 'physical:host') queries.push(parseProperties(terms.hypervisor_properties))
  return ({ kind, facts }) => kind === 'host' && queries.every(query => matches(query, facts))
}

/** The booking for some slots of a reservation on one host or node. */
export function bookedFor(
  lease: string,
  reservation: string,
  terms: Terms,
  window: Window & { end: number },
  slots: number,
): Booked {
  const isWhole = terms.resource_type !== 'virtual:instance'
  const size = isWhole ? { vcpus: 0, memory_mb: 0, disk_gb: 0 } : terms
  return {
    lease,
    reservation,
    ...window,
    slots,
    isWhole,
    vcpus: size.vcpus * slots,
    memory_mb: size.memory_mb * slots,
    disk_gb: size.disk_gb * slots,
  }
}
