// Invariants that compare what was asked for, which is JSON, with what was made of it.
import { sql } from 'kysely'
import { databaseNow } from '../clock/database-now.ts'
import { limits } from '../shared/limits.ts'
import { count, type Invariants } from '../store/fsck.ts'
import { query, type Tools } from '../store/statement.ts'

/** A number in a JSON text, at a path such as `needs.size.vcpus`. */
const numberAt = (on: Tools, column: string, path: string) =>
  on.dialect === 'sqlite'
    ? `(${column} ->> '$.${path}')`
    : `(${column}::jsonb #>> '{${path.replaceAll('.', ',')}}')::bigint`

const textAt = (on: Tools, column: string, path: string) =>
  on.dialect === 'sqlite' ? `(${column} ->> '$.${path}')` : `(${column}::jsonb #>> '{${path.replaceAll('.', ',')}}')`

/** Counts the rows of a query that differs between the databases. */
const countOn = (violations: (on: Tools) => string) =>
  query((db, _: object, on) =>
    db.selectFrom(sql<object>`(${sql.raw(violations(on))})`.as('v')).select(e => e.fn.countAll<number>().as('count')),
  )

const SIZES = ['vcpus', 'memory_mb', 'disk_gb'] as const

/** What one slot of a reservation takes. */
const sizeOf = (on: Tools, name: string) => `case r.resource_type
  when 'virtual:instance' then ${numberAt(on, 'r.terms', name)}
  when 'flavor:instance' then ${numberAt(on, 'r.terms', `needs.size.${name}`)} else 0 end`

/** Each class that a slot takes beside its sizes, as `e`. */
const eachExtra = (on: Tools) =>
  on.dialect === 'sqlite'
    ? "json_each(r.terms, '$.needs.size.extras') e"
    : "jsonb_each_text(r.terms::jsonb #> '{needs,size,extras}') e"

const OF_INSTANCES = "('virtual:instance', 'flavor:instance')"

/** Beyond the longest pause before the next try. A minute for clocks that differ. */
const LATE_MS = limits.leaseRetryMsMax + 60_000

export const termsInvariants: Invariants = {
  'the terms of a reservation are of its type': countOn(
    on => `select 1 from lease_reservations r where r.resource_type <> ${textAt(on, 'r.terms', 'resource_type')}`,
  ),
  'a booking takes what its slots ask for': countOn(
    on => `select 1 from bookings b join lease_reservations r on r.id = b.reservation_id
      where ${SIZES.map(name => `b.${name} <> b.slots * ${sizeOf(on, name)}`).join(' or ')}`,
  ),
  'a booking takes of other classes what its slots ask for': countOn(
    on => `select 1 from bookings b join lease_reservations r on r.id = b.reservation_id
      cross join ${eachExtra(on)} where r.resource_type = 'flavor:instance' and e.value <> '0'
        and (b.extras is null or coalesce(${on.dialect === 'sqlite' ? 'b.extras ->> e.key' : '(b.extras::jsonb ->> e.key)::bigint'}, 0)
          <> b.slots * ${on.dialect === 'sqlite' ? 'e.value' : 'e.value::bigint'})`,
  ),
  'hosts and nodes are leased as a whole, instances are not': count(`
    select 1 from bookings b join lease_reservations r on r.id = b.reservation_id
    where (b.is_whole = 1) <> (r.resource_type not in ${OF_INSTANCES}) or (b.is_whole = 1 and b.slots <> 1)`),
  'a reservation has as many hosts or nodes as it asked for, or says that it lacks some': countOn(
    on => `select 1 from lease_reservations r where r.status <> 'deleted' and r.missing_resources = 0
      and r.resource_type not in ${OF_INSTANCES}
      and exists (select 1 from bookings b where b.reservation_id = r.id)
      and (select count(*) from bookings b where b.reservation_id = r.id)
        not between ${numberAt(on, 'r.terms', 'min')} and ${numberAt(on, 'r.terms', 'max')}`,
  ),
  'the flavor of a reservation has the sizes that were asked for': countOn(
    on => `select 1 from lease_reservations r join flavors f on f.id = r.id and f.managed_by = 'leases'
      where (r.resource_type = 'virtual:instance' and (f.vcpus <> ${numberAt(on, 'r.terms', 'vcpus')}
          or f.ram_mb <> ${numberAt(on, 'r.terms', 'memory_mb')} or f.disk_gb <> ${numberAt(on, 'r.terms', 'disk_gb')}))
        or (r.resource_type = 'flavor:instance' and (f.vcpus <> ${numberAt(on, 'r.terms', 'flavor.vcpus')}
          or f.ram_mb <> ${numberAt(on, 'r.terms', 'flavor.ram_mb')} or f.disk_gb <> ${numberAt(on, 'r.terms', 'flavor.disk_gb')}))`,
  ),
  'an event of a lease is due at its time, or a little after a try': query((db, _: object, on) =>
    db
      .selectFrom('lease_events')
      .select(e => e.fn.countAll<number>().as('count'))
      .where(
        sql<boolean>`due_at is not null and due_at <> time and due_at >
          ${databaseNow(on)} + (select ahead_ms from test_clock) + ${sql.lit(LATE_MS)}`,
      ),
  ),
  'an event of a lease is between its start and its end, and was not tried less than never': count(`
    select 1 from lease_events e join leases l on l.id = e.lease_id
    where e.time < l.start_at or e.time > l.end_at or e.attempts < 0`),
  'a lease that was deleted is ending': count(`
    select 1 from leases where is_deleted = 1 and status not in ('TERMINATING', 'TERMINATED')`),
  'what can be leased has its provider’s name, and is a node exactly when it is one': count(`
    select 1 from leasables h join providers p on p.id = h.provider_id where h.name <> p.name
      or (h.kind = 'node') <> exists (select 1 from nodes n where n.provider_id = h.provider_id)`),
  'every property of a host is known': count(`
    select 1 from host_capabilities c join leasables h on h.provider_id = c.provider_id where not exists (select 1 from host_properties p where p.name = c.name)`),
  'work for Nova is of a reservation’s own lease, and counts from nothing': count(`
    select 1 from nova_work w join lease_reservations r on r.id = w.reservation_id where r.lease_id <> w.lease_id
    union all select 1 from nova_work where version < 1 or attempts < 0 or failures < 0`),
}
