// The invariants of leases, each as a query that counts violations.
import { sql } from 'kysely'
import { capitals, count, danglings, type Invariants } from '../store/fsck.ts'
import { termsInvariants } from './fsck-terms.ts'
import { query, type Tools } from '../store/statement.ts'

const CLASS_OF = (id: string) => `'CUSTOM_RESERVATION_' || upper(replace(${id}, '-', '_'))`
/** The inverse, so that both directions can use an index. */
const RESERVATION_OF = (name: string) =>
  `lower(replace(substr(${name}, ${'CUSTOM_RESERVATION_'.length + 1}), '_', '-'))`

/** The flavors of a reservation: whole hosts have some for parts of a host. */
const FLAVORS_OF = (id: string) => `(${id}, ${id} || '-2', ${id} || '-4', ${id} || '-8')`
/** The inverse: ids of reservations have 36 characters. */
const RESERVATION_WITH = (flavor: string) => `substr(${flavor}, 1, 36)`

/** A reservation whose lease waits for the users of another one. */
const IS_GIVEN_BACK = `(l.status = 'TERMINATING'
  and not exists (select 1 from resource_classes g where g.name = ${CLASS_OF('r.id')}))`

/** The use of a host at each start of a booking: the use rises only there. */
const AT_START = `
  from bookings s join leasables l on l.provider_id = s.provider_id
  join bookings b on b.provider_id = s.provider_id and b.start_at <= s.start_at and b.free_at > s.start_at
  where s.free_at > s.start_at
  group by s.reservation_id, s.provider_id, s.start_at, l.vcpus_ceiling, l.memory_mb_ceiling, l.disk_gb_ceiling`

/** What bookings take beside vcpus, memory and disk, by class. */
const extrasOf = (on: Tools) =>
  on.dialect === 'sqlite'
    ? {
        each: 'json_each(s.extras) c',
        sum: 'sum(coalesce(b.extras ->> c.key, 0))',
        ceiling: 'coalesce(l.extras_ceiling ->> c.key, 0)',
      }
    : {
        each: 'jsonb_each_text(s.extras::jsonb) c',
        sum: 'sum(coalesce((b.extras::jsonb ->> c.key)::bigint, 0))',
        ceiling: 'coalesce((l.extras_ceiling::jsonb ->> c.key)::bigint, 0)',
      }

const countExtras = (others: string) =>
  query((db, _: object, on) => {
    const { each, sum, ceiling } = extrasOf(on)
    return db
      .selectFrom(
        sql<object>`(select 1 from bookings s join leasables l on l.provider_id = s.provider_id
          cross join ${sql.raw(each)} where s.extras is not null and s.free_at > s.start_at and (
            select ${sql.raw(sum)} from bookings b where b.provider_id = s.provider_id and ${sql.raw(others)}
          ) > ${sql.raw(ceiling)})`.as('v'),
      )
      .select(e => e.fn.countAll<number>().as('count'))
  })

export const leaseInvariants: Invariants = {
  ...termsInvariants,
  'at no instant is more booked of a host than it has': count(`
    select 1 ${AT_START} having sum(b.vcpus) > l.vcpus_ceiling
      or sum(b.memory_mb) > l.memory_mb_ceiling or sum(b.disk_gb) > l.disk_gb_ceiling`),
  'at no instant is more booked of another class of a host than it has': countExtras(
    'b.start_at <= s.start_at and b.free_at > s.start_at',
  ),
  'of another class of a host no more is given out than it has': countExtras(`exists (
    select 1 from lease_reservations r where r.id = b.reservation_id and r.status = 'active')`),
  'what is leased as a whole is leased to one at a time': count(`
    select 1 ${AT_START} having count(*) > 1 and max(b.is_whole) = 1`),
  'a booking is in the window of its lease': count(`
    select 1 from bookings b join lease_reservations r on r.id = b.reservation_id join leases l on l.id = r.lease_id
    where b.lease_id <> l.id or b.start_at <> l.start_at or b.end_at <> l.end_at`),
  'a started reservation is an inventory of as many as it has slots on each host, and nothing else is': count(`
    select 1 from bookings b join lease_reservations r on r.id = b.reservation_id
    join leases l on l.id = r.lease_id join leasables h on h.provider_id = b.provider_id and h.kind = 'host'
    where r.status = 'active' and not ${IS_GIVEN_BACK} and not exists (
      select 1 from providers p join inventories i on i.provider_id = p.id join resource_classes c on c.id = i.class_id
      where p.uuid = h.reservation_provider and c.name = ${CLASS_OF('r.id')}
        and (b.is_whole = 1 or i.total = b.slots) and i.allocation_ratio = 1 and i.reserved = 0)
    union all
    select 1 from providers p join inventories i on i.provider_id = p.id join resource_classes c on c.id = i.class_id
    where p.managed_by = 'leases' and not exists (
      select 1 from leasables h join bookings b on b.provider_id = h.provider_id
      join lease_reservations r on r.id = b.reservation_id
      where h.reservation_provider = p.uuid and r.status = 'active'
        and b.reservation_id = ${RESERVATION_OF('c.name')})`),
  'of a host no more is given out than it has, however late those before it are': count(`
    select 1 from bookings b join lease_reservations r on r.id = b.reservation_id and r.status = 'active'
    join leasables l on l.provider_id = b.provider_id and l.kind = 'host'
    group by b.provider_id, l.vcpus_ceiling, l.memory_mb_ceiling, l.disk_gb_ceiling
    having sum(b.vcpus) > l.vcpus_ceiling or sum(b.memory_mb) > l.memory_mb_ceiling
      or sum(b.disk_gb) > l.disk_gb_ceiling or (count(*) > 1 and max(b.is_whole) = 1)`),
  'the class of a lease is closed from its end on, and open before': count(`
    select 1 from lease_reservations r join leases l on l.id = r.lease_id
    join resource_classes c on c.name = ${CLASS_OF('r.id')} join inventories i on i.class_id = c.id
    where (l.status = 'TERMINATING') <> (i.blocked = 1)`),
  'a reservation that is not over has its class, and its flavor unless it is of hosts that are not its own yet': count(`
    select 1 from lease_reservations r join leases l on l.id = r.lease_id
    where r.status <> 'deleted' and r.resource_type <> 'physical:node' and not ${IS_GIVEN_BACK} and (
      not exists (select 1 from resource_classes c where c.name = ${CLASS_OF('r.id')} and c.managed_by = 'leases')
      or ((r.resource_type in ('virtual:instance', 'flavor:instance') or r.status = 'active')
        and not exists (select 1 from flavors f where f.id = r.id and f.managed_by = 'leases')))`),
  'an ended lease leaves no bookings, class, flavor or server': count(`
    select 1 from lease_reservations r where r.status = 'deleted' and (
      exists (select 1 from bookings b where b.reservation_id = r.id)
      or exists (select 1 from resource_classes c where c.name = ${CLASS_OF('r.id')})
      or exists (select 1 from flavors f where f.id in ${FLAVORS_OF('r.id')})
      or exists (select 1 from servers s where s.flavor_id in ${FLAVORS_OF('r.id')}))`),
  'a class or flavor of leases is that of a reservation': count(`
    select 1 from resource_classes c where c.managed_by = 'leases' and not exists (
      select 1 from lease_reservations r where r.id = ${RESERVATION_OF('c.name')})
    union all
    select 1 from flavors f where f.managed_by = 'leases' and not exists (
      select 1 from lease_reservations r where r.id = ${RESERVATION_WITH('f.id')}
        and (r.id = f.id or (r.resource_type = 'physical:host' and r.status = 'active')))`),
  'access to a reservation’s flavor is the lease’s project’s, exactly while it is active': count(`
    select 1 from lease_reservations r join leases l on l.id = r.lease_id
    where r.resource_type <> 'physical:node' and (r.status = 'active' and l.status = 'ACTIVE') <> exists (
      select 1 from flavor_access a where a.flavor_id = r.id and a.project_id = l.project_id)
    union all
    select 1 from flavors f join lease_reservations r on r.id = ${RESERVATION_WITH('f.id')}
    join leases l on l.id = r.lease_id
    where f.managed_by = 'leases' and (r.status = 'active' and l.status = 'ACTIVE') <> exists (
      select 1 from flavor_access a where a.flavor_id = f.id and a.project_id = l.project_id)
    union all
    select 1 from flavor_access a join flavors f on f.id = a.flavor_id and f.managed_by = 'leases'
    join lease_reservations r on r.id = ${RESERVATION_WITH('f.id')} join leases l on l.id = r.lease_id
    where a.project_id <> l.project_id`),
  'a lease’s status, its reservations’ and its events’ tell the same': count(`
    select 1 from leases l where
      exists (select 1 from lease_reservations r where r.lease_id = l.id and r.status <> case l.status
        when 'PENDING' then 'pending' when 'STARTING' then 'pending'
        when 'TERMINATED' then 'deleted' else 'active' end
        and not (l.status = 'TERMINATING' and r.status = 'pending'))
      or not exists (select 1 from lease_events e where e.lease_id = l.id and e.event_type = 'start_lease'
        and ((e.due_at is not null) = (l.status in ('PENDING', 'STARTING')) or l.status = 'TERMINATING'))
      or not exists (select 1 from lease_events e where e.lease_id = l.id and e.event_type = 'end_lease'
        and (e.due_at is null) = (l.status = 'TERMINATED'))`),
  'the times of start and end are those of the lease': count(`
    select 1 from leases l join lease_events e on e.lease_id = l.id
    where (e.event_type = 'start_lease' and e.time <> l.start_at) or (e.event_type = 'end_lease' and e.time <> l.end_at)`),
  'a lease is degraded exactly when one of its reservations is': count(`
    select 1 from leases l where (l.degraded = 1) <> exists (
      select 1 from lease_reservations r where r.lease_id = l.id and (r.missing_resources = 1 or r.resources_changed = 1))`),
  // The child of a host that was withdrawn lately is still there, empty: the inventories are above.
  'a host is dedicated to leases and has its reservation provider below it': count(`
    select 1 from leasables h join providers p on p.id = h.provider_id where h.kind = 'host' and (
      p.dedicated_to is null or p.dedicated_to <> 'leases' or not exists (
        select 1 from providers c where c.uuid = h.reservation_provider and c.parent_id = p.id and c.managed_by = 'leases'))
    union all
    select 1 from providers p where p.dedicated_to = 'leases'
      and not exists (select 1 from leasables h where h.provider_id = p.id)
    union all
    select 1 from providers p left join providers root on root.id = p.parent_id where p.managed_by = 'leases'
      and not exists (select 1 from leasables h where h.reservation_provider = p.uuid)
      and (root.id is null or root.dedicated_to = 'leases')`),
  'a node is the calendar’s exactly when it is enrolled, and promised from its first booking on': count(`
    select 1 from nodes n left join leasables l on l.provider_id = n.provider_id and l.kind = 'node'
    where (n.leasable = 1) <> (l.provider_id is not null)
      or coalesce(n.pledged_at, -1) <> coalesce(
        (select min(b.start_at) from bookings b where b.provider_id = l.provider_id), -1)`),
  'nobody has a leasable node for ever, or into a booking, but by a lease': count(`
    select 1 from nodes n join leasables l on l.provider_id = n.provider_id
    left join allocations a on a.node_id = n.id
    where n.instance_uuid is not null
      and not exists (select 1 from bookings b where b.provider_id = n.provider_id and b.allocation = n.instance_uuid)
      and (a.expires_at is null or (n.pledged_at is not null and a.expires_at > n.pledged_at))
    union all
    select 1 from nodes n join leasables l on l.provider_id = n.provider_id join reservations r on r.node_id = n.id
    where r.expires_at > n.pledged_at`),
  // A node that someone keeps stays leased while its lease ends.
  'a node that a running lease was given is leased to its project, and no other node is leased': count(`
    select 1 from bookings b join leases l on l.id = b.lease_id join nodes n on n.provider_id = b.provider_id
    where b.allocation is not null and l.status in ('STARTING', 'ACTIVE')
      and (n.leased_to is null or n.leased_to <> l.project_id)
    union all
    select 1 from nodes n where n.leased_to is not null and not exists (
      select 1 from bookings b join leases l on l.id = b.lease_id
      where b.provider_id = n.provider_id and b.allocation is not null
        and l.project_id = n.leased_to and (l.status in ('STARTING', 'ACTIVE')
          or (l.status = 'TERMINATING' and b.allocation = n.instance_uuid)))`),
  'a running lease has each node that it booked, or says that it lacks some': count(`
    select 1 from bookings b join lease_reservations r on r.id = b.reservation_id and r.resource_type = 'physical:node'
    join leases l on l.id = r.lease_id join nodes n on n.provider_id = b.provider_id
    where l.status = 'ACTIVE' and r.missing_resources = 0
      and (b.allocation is null or coalesce(n.instance_uuid, '') <> b.allocation)
      and (n.leased_to is null or n.instance_uuid is not null)`),
  'a lease of nodes that is starting waits for one of them': count(`
    select 1 from leases l where l.status = 'STARTING'
      and exists (select 1 from bookings b join nodes n on n.provider_id = b.provider_id where b.lease_id = l.id)
      and not exists (select 1 from lease_reservations r where r.lease_id = l.id
        and (r.resource_type <> 'physical:node' or r.missing_resources = 1))
      and not exists (select 1 from bookings b join nodes n on n.provider_id = b.provider_id
        where b.lease_id = l.id and (b.allocation is null or n.instance_uuid is null or n.instance_uuid <> b.allocation))`),
  'a reservation of instances has no more slots than it asked for': query((db, _: object, on) =>
    db
      .selectFrom(
        sql<object>`(select 1 from bookings b join lease_reservations r on r.id = b.reservation_id
          where r.resource_type in ('virtual:instance', 'flavor:instance') group by r.id, r.terms
          having sum(b.slots) > ${sql.raw(on.dialect === 'sqlite' ? "r.terms ->> 'amount'" : "(r.terms::json ->> 'amount')::bigint")})`.as(
          'v',
        ),
      )
      .select(e => e.fn.countAll<number>().as('count')),
  ),
  'what Nova should have is there, or someone has to bring it there': count(`
    select 1 from nova_work w where w.due_at is null and (
      w.error is not null or w.failures <> 0 or w.taken_until is not null
      or not exists (select 1 from flavors f where f.id = w.reservation_id and f.managed_by = 'leases'))`),
  'whoever has something of a dedicated host has a share of leases there too': count(`
    select 1 from claims c join leasables h on h.provider_id = c.provider_id and h.kind = 'host' where not exists (
      select 1 from claims s join providers p on p.id = s.provider_id
      where s.consumer_id = c.consumer_id and p.uuid = h.reservation_provider)`),
  'reservations, events, bookings and hosts are of what exists': danglings(
    ['leasables.provider_id', 'providers.id'],
    ['host_capabilities.provider_id', 'leasables.provider_id'],
    ['lease_reservations.lease_id', 'leases.id'],
    ['lease_events.lease_id', 'leases.id'],
    ['bookings.reservation_id', 'lease_reservations.id'],
    ['bookings.provider_id', 'leasables.provider_id'],
    ['bookings.lease_id', 'leases.id'],
  ),
  'leases, and what they have, have ids in small letters': capitals(
    'leases.id',
    'lease_reservations.id',
    'lease_events.id',
    'leasables.reservation_provider',
    'bookings.allocation',
  ),
}
