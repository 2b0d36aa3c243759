// Once faults have stopped for a while, everything comes to its end. Each is a query for what does not.
import type { Dialect } from '../../src/store/statement.ts'
import type { Finding } from '../port.ts'
import type { Inside } from './inside.ts'

/** A text for each violation. `late` is the time before which all that was due should have happened. */
type Stuck = (late: number) => string

const FREE = `n.provision_state = 'available' and n.maintenance = 0 and n.retired = 0 and n.instance_uuid is null
  and n.power_state is not null and n.transition is null
  and not exists (select 1 from claims c where c.provider_id = n.provider_id)`

const STUCK: Record<string, Stuck> = {
  'a node is locked': late =>
    `select uuid || ' by ' || coalesce(reservation, '?') as what from nodes
    where lock_incarnation is not null and coalesce(updated_at, created_at) < ${late}`,
  'a node is on its way': late =>
    `select uuid || ' is ' || provision_state as what from nodes
    where transition is not null and coalesce(updated_at, created_at) < ${late}`,
  'a node is taken by nobody': () => `select n.uuid || ' by ' || n.instance_uuid as what from nodes n
    where n.instance_uuid is not null and not exists (select 1 from allocations a where a.node_id = n.id)`,
  'an allocation is not decided': late => `select uuid || ' since ' || created_at as what from allocations
    where state = 'allocating' and coalesce(wait_until, created_at) < ${late}`,
  'an allocation is not over': late => `select a.uuid || ' until ' || a.expires_at as what from allocations a
    left join nodes n on n.id = a.node_id where a.expires_at < ${late} and coalesce(n.maintenance, 0) = 0`,
  'an allocation waits, although a node is free': late => `select a.uuid || ' could have ' || n.uuid as what
    from allocations a join nodes n on n.resource_class = a.resource_class
    where a.state = 'allocating' and a.created_at < ${late} and a.traits = '[]' and a.candidate_nodes = '[]'
      and (a.owner is null or a.owner = n.owner) and n.leasable = 0
      and coalesce(n.updated_at, n.created_at) < ${late} and ${FREE}`,
  'a hold is not over': late =>
    `select uuid || ' until ' || expires_at as what from reservations where expires_at < ${late}`,
  'a consumer has lapsed': late => `select uuid as what from consumers where expires_at < ${late}`,
  'a lease has not begun':
    late => `select id || ' is ' || status || ': ' || coalesce(status_reason, '') as what from leases
    where start_at < ${late} and status in ('PENDING', 'STARTING')
      and not exists (select 1 from bookings b left join nodes n on n.provider_id = b.provider_id
        where b.lease_id = leases.id and n.maintenance = 1)`,
  'a lease is not over':
    late => `select id || ' is ' || status || ': ' || coalesce(status_reason, '') as what from leases
    where end_at < ${late} and status <> 'TERMINATED'`,
  'an event of a lease is late': late =>
    `select lease_id || ' ' || event_type as what from lease_events where time < ${late} and due_at < ${late}`,
  'a lease lacks a node, although one is free': late => `select r.id || ' could have ' || n.uuid as what
    from lease_reservations r join leases l on l.id = r.lease_id join nodes n on n.leasable = 1 and ${FREE}
    where r.resource_type = 'physical:node' and r.missing_resources = 1 and l.status in ('STARTING', 'ACTIVE')
      and l.start_at < ${late} and l.updated_at < ${late} and n.pledged_at is null
      and n.resource_class = r.terms::json ->> 'resource_class'`,
  'a booked node in maintenance was not exchanged':
    late => `select l.id || ' has ' || bad.uuid || ', could have ' || n.uuid as what
    from bookings b join leases l on l.id = b.lease_id join nodes bad on bad.provider_id = b.provider_id
    join nodes n on n.leasable = 1 and n.resource_class = bad.resource_class and n.pledged_at is null and ${FREE}
    where bad.maintenance = 1 and bad.updated_at < ${late} and l.status in ('PENDING', 'STARTING')
      and b.allocation is null and l.updated_at < ${late}`,
  'a delivery is late': late => `select message as what from deliveries where status = 'pending' and due_at < ${late}`,
  // As if it were under way for ever: its process is dead.
  'a delivery is nobody’s': late => `select message as what from deliveries
    where status = 'pending' and failures = 0 and due_at > ${late + 300_000}`,
  'an event was put into the outbox twice': () =>
    `select message as what from deliveries group by webhook_id, message having count(*) > 1`,
  'a question to a machine is left': late => `select id::text as what from calls where expires_at < ${late}`,
}

/** Where the log gets its order after the commit. */
const STUCK_ON_POSTGRES: Record<string, Stuck> = {
  'an entry of the log has no place':
    late => `select l.id::text as what from log l where l.action <> '' and l.at < ${late}
    and not exists (select 1 from log_order o where l.id = any(o.entries))`,
  'an entry of the log has two places': () => `select entry::text as what from log_order, unnest(entries) as entry
    group by entry having count(*) > 1`,
  'an entry of the log is not sealed': late => `select l.id::text as what from audit_chain
    join log_order o on o.last > head_last join log l on l.id = any(o.entries)
    where l.at < ${late} and (select count(*) from unnest(o.entries) as e (id) where e.id <= l.id) > head_last - o.first + 1`,
}

const STUCK_ON_SQLITE: Record<string, Stuck> = {
  'an entry of the log is not sealed': late =>
    `select l.id as what from log l, audit_chain where l.action <> '' and l.at < ${late} and l.id > head_last`,
}

/** What has come to no end, by the database. SQLite has no casts of this kind, and needs none. */
const stuckOn = (dialect: Dialect, late: number): [name: string, text: string][] =>
  Object.entries({ ...STUCK, ...(dialect === 'sqlite' ? STUCK_ON_SQLITE : STUCK_ON_POSTGRES) }).map(([name, stuck]) => [
    name,
    dialect === 'sqlite' ? stuck(late).replaceAll(/::\w+/g, '') : stuck(late),
  ])

/** One whose process is up has noticed by now if others had given it up. */
async function absent({ rows, conductors }: Inside): Promise<Finding[]> {
  const there = new Set(
    (await rows<{ name: string }>('select hostname as name from conductors where online = 1')).map(({ name }) => name),
  )
  return conductors()
    .filter(name => !there.has(name))
    .map(name => ({ check: 'liveness', text: `conductor ${name} is up, but counts as dead` }))
}

export async function liveness(inside: Inside, quietSince: number): Promise<Finding[]> {
  const { dialect, rows, now } = inside
  const late = Math.floor(Math.min(quietSince, now() - 500))
  const findings: Finding[] = await absent(inside)
  for (const [name, text] of stuckOn(dialect, late)) {
    const found = await rows<{ what: string }>(text)
    if (found.length > 0)
      findings.push({
        check: 'liveness',
        text: `${name}: ${found
          .slice(0, 3)
          .map(({ what }) => what)
          .join('; ')}`,
      })
  }
  return findings
}
