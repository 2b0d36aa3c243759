// What Nova should have of a reservation, as our tables say it.
import { RESERVED } from '../../compute/flavors.ts'
import type { NovaFlavor } from '../../nova/port.ts'
import { jsonIn, WORDS } from '../../shared/json.ts'
import { query } from '../../store/statement.ts'
import { type Read, together } from '../../store/transaction.ts'
import { classOf, allFlavorIds, OWNER } from '../lifecycle/reservation-resources.ts'

export interface WishedFlavor {
  flavor: NovaFlavor
  projects: readonly string[]
}

/** A consumer with a claim on the class, and the hosts where it is. */
export interface Holder {
  consumer: string
  hosts: readonly { hypervisor: string; name: string }[]
}

/** `surplus` are the flavors of ours that should not be there. */
export type Wish =
  | { kind: 'there'; flavors: readonly WishedFlavor[]; surplus: readonly string[] }
  /** Nobody may use it any more, and what uses it goes. */
  | { kind: 'ending'; flavors: readonly string[]; holders: readonly Holder[] }
  | { kind: 'gone'; surplus: readonly string[] }

const flavors = query((db, a: { ids: readonly string[] }, on) =>
  db
    .selectFrom('flavors')
    .select(['id', 'name', 'vcpus', 'ram_mb', 'disk_gb', 'ephemeral_gb', 'swap_mb', 'extra_specs'])
    .where(on.isIn('id', a.ids))
    .where('managed_by', '=', OWNER)
    .orderBy('id'),
)
const access = query((db, a: { ids: readonly string[] }, on) =>
  db.selectFrom('flavor_access').select(['flavor_id', 'project_id']).where(on.isIn('flavor_id', a.ids)),
)
const facts = query((db, a: { id: string }) =>
  db
    .selectFrom('lease_reservations as r')
    .innerJoin('leases as l', 'l.id', 'r.lease_id')
    .select(['r.resource_type', 'l.status'])
    .where('r.id', '=', a.id),
)
const holding = query((db, a: { class: string }) =>
  db
    .selectFrom('resource_classes as r')
    .innerJoin('inventories as i', 'i.class_id', 'r.id')
    .innerJoin('claims as c', join =>
      join.onRef('c.provider_id', '=', 'i.provider_id').onRef('c.class_id', '=', 'i.class_id'),
    )
    .innerJoin('consumers as k', 'k.id', 'c.consumer_id')
    .innerJoin('providers as p', 'p.id', 'i.provider_id')
    .leftJoin('providers as h', 'h.id', 'p.parent_id')
    .select(['k.uuid as consumer', 'h.uuid as hypervisor', 'h.name as name'])
    .where('r.name', '=', a.class)
    .orderBy('k.uuid'),
)

export function* wishFor(reservation: string): Read<Wish> {
  const ids = allFlavorIds(reservation)
  const [wanted, allowed, [about], claims] = yield* together(
    flavors({ ids }),
    access({ ids }),
    facts({ id: reservation }),
    holding({ class: classOf(reservation) }),
  )
  if (wanted.length === 0) return { kind: 'gone', surplus: ids }
  if (about?.status === 'TERMINATING') {
    const byConsumer = Map.groupBy(claims, ({ consumer }) => consumer)
    const holders = Array.from(byConsumer, ([consumer, at]) => ({
      consumer,
      hosts: at.map(({ hypervisor, name }) => ({ hypervisor: hypervisor ?? '', name: name ?? '' })),
    }))
    return { kind: 'ending', flavors: wanted.map(({ id }) => id), holders }
  }
  const projects = Map.groupBy(allowed, ({ flavor_id }) => flavor_id)
  return {
    kind: 'there',
    flavors: wanted.map(({ extra_specs, ...flavor }) => ({
      flavor: { ...flavor, is_public: false, extra_specs: jsonIn(extra_specs, WORDS) },
      projects: (projects.get(flavor.id) ?? []).map(({ project_id }) => project_id),
    })),
    // Only hosts have more than one.
    surplus: about?.resource_type === 'physical:host' ? ids.filter(id => !wanted.some(one => one.id === id)) : [],
  }
}

/** Whether Nova's flavor with an id of ours is ours: nobody else calls one so. */
export const isOurs = ({ id, name }: Pick<NovaFlavor, 'id' | 'name'>): boolean => name === `${RESERVED}${id}`
