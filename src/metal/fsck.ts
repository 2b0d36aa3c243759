// Invariants of nodes and of their providers in the ledger. Each is a query that counts violations.
import { sql } from 'kysely'
import { limits } from '../shared/limits.ts'
import { capitals, count, danglings, type Invariants } from '../store/fsck.ts'
import { query } from '../store/statement.ts'
import { databaseNow } from '../clock/database-now.ts'
import { OWNER } from './nodes/rows.ts'
import { STATES, STEPS } from './nodes/states.ts'

const BUSY = Object.values(STEPS)
  .flatMap(({ during, waiting }) => [during, ...(waiting ? [waiting] : [])])
  .map(state => `'${state}'`)
  .join(', ')

/** Locks of conductors gone longer than any take-over takes, although another conductor was there to take over. */
const abandonedLocks = query((db, _: object, on) => {
  const longAgo = sql`(${databaseNow(on)} - ${sql.lit(limits.takeOverMsMax)})`
  return db
    .selectFrom('nodes as n')
    .leftJoin('conductors as h', 'h.incarnation', 'n.lock_incarnation')
    .leftJoin('conductors as s', 's.hostname', 'n.reservation')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('n.lock_incarnation', 'is not', null)
    .where(sql<boolean>`coalesce(h.heartbeat_at, s.registered_at, 0) < ${longAgo}`)
    .where(
      sql<boolean>`exists (select 1 from conductors c
        where c.online = 1 and c.heartbeat_at >= ${longAgo} and c.registered_at < ${longAgo})`,
    )
})

/** A minute: they are written by the database's clock. Who has one to come is never taken for dead. */
const newSigns = query((db, _: object, on) =>
  db
    .selectFrom('conductors')
    .select(e => e.fn.countAll<number>().as('count'))
    .where(sql<boolean>`heartbeat_at > ${databaseNow(on)} + 60000 + (select ahead_ms from test_clock)`),
)

/** Questions that nobody has swept for long, although a conductor was there. */
const leftCalls = query((db, _: object, on) => {
  const longAgo = sql`(${databaseNow(on)} - ${sql.lit(limits.takeOverMsMax)})`
  return db
    .selectFrom('calls')
    .select(e => e.fn.countAll<number>().as('count'))
    .where(sql<boolean>`expires_at < ${longAgo}`)
    .where(
      sql<boolean>`exists (select 1 from conductors c
        where c.online = 1 and c.heartbeat_at >= ${longAgo} and c.registered_at < ${longAgo})`,
    )
})

/** Work that comes this late was not meant: nobody waits for a machine for longer. */
const LATE_MS = 31 * 24 * 3_600_000

const farWork = query((db, _: object, on) =>
  db
    .selectFrom('nodes')
    .select(e => e.fn.countAll<number>().as('count'))
    .where(sql<boolean>`due_at > ${databaseNow(on)} + ${sql.lit(LATE_MS)} + (select ahead_ms from test_clock)`),
)

/** The names that SQL can turn into those of Placement; hardly any others are used. */
const misnamed = query((db, _: object, on) => {
  const isPlain = on.dialect === 'sqlite' ? "not glob '*[^A-Za-z0-9_. -]*'" : "~ '^[A-Za-z0-9_. -]+$'"
  return db.selectFrom('nodes').select(e => e.fn.countAll<number>().as('count'))
    .where(sql<boolean>`resource_class ${sql.raw(isPlain)} and placement_class <>
      'CUSTOM_' || replace(replace(replace(upper(resource_class), '-', '_'), '.', '_'), ' ', '_')`)
})

const STATE_WORDS = [...STATES].map(state => `'${state}'`).join(', ')

export const metalInvariants: Invariants = {
  'a consumer that ends is a hold that ends then': count(`
    select 1 from consumers k where k.expires_at is not null and not exists (select 1 from reservations r
      where r.uuid = k.uuid and r.expires_at = k.expires_at and k.type = 'RESERVATION' and k.managed_by = 'baremetal')`),
  'a node is in states that there are': count(`
    select 1 from nodes where provision_state not in (${STATE_WORDS})
      or target_provision_state not in (${STATE_WORDS})
      or power_state not in ('power on', 'power off') or target_power_state not in ('power on', 'power off')`),
  'a node’s class in Placement is named after its own': misnamed,
  'work on a node is due before long': farWork,
  'a node that is to be emptied has a machine, and nobody has it': count(`
    select 1 from nodes where leftover = 1 and (instance_uuid is not null or provision_state in ('available', 'enroll'))`),
  'a node has a lessee to go back to only while it is leased': count(`
    select 1 from nodes where leased_to is null and lessee_before is not null`),
  'the node above a node is there': count(`
    select 1 from nodes c where c.parent_node is not null
      and not exists (select 1 from nodes p where p.uuid = c.parent_node)`),
  'an allocation has a node of the class that it asked for': count(`
    select 1 from allocations a join nodes n on n.id = a.node_id
    where a.state = 'active' and (n.resource_class is null or n.resource_class <> a.resource_class)`),
  'what an allocation or a hold has claimed is its project’s': count(`
    select 1 from allocations a join consumers k on k.uuid = a.uuid
      where k.managed_by is not null and (k.project_id <> a.project_id or k.user_id <> a.user_id)
    union all select 1 from reservations r join consumers k on k.uuid = r.uuid
      where k.managed_by is not null and k.project_id <> r.project_id`),
  'an allocation that looks for a node is a conductor’s': count(`
    select 1 from allocations where state = 'allocating' and conductor_affinity = ''`),
  'only a kept allocation is kept until some time': count(`
    select 1 from allocations where keeper is null and (kept_until is not null or planned_end is not null)`),
  'ports and portgroups have addresses in small letters': count(`
    select 1 from ports where address <> lower(address)
    union all select 1 from portgroups where address <> lower(address)`),
  'a document about a node is of a kind that there is': count(`
    select 1 from node_documents where kind not in ('inventory', 'bios')`),
  'a conductor’s last sign is not still to come': newSigns,
  'what a project used of late is no less than what ended of it': count(`
    select 1 from project_usages where used < ended or ended < 0
    union all select 1 from node_uses where until_at <= from_at
    union all select 1 from project_priorities where priority not between -10 and 10 or share not between 1 and 1000`),
  'a node is the provider of its uuid, and managed': count(`
    select 1 from nodes n left join providers p on p.id = n.provider_id
    where p.id is null or p.uuid <> n.uuid or p.name <> n.uuid or p.managed_by is null or p.managed_by <> 'baremetal'`),
  'a provider managed by bare metal is a node': count(`
    select 1 from providers p where p.managed_by = 'baremetal'
      and not exists (select 1 from nodes n where n.provider_id = p.id)`),
  'a node offers one of its class, and nothing else': count(`
    select 1 from nodes n where (
      select count(*) from inventories i where i.provider_id = n.provider_id) <> 1
    or not exists (select 1 from inventories i join resource_classes c on c.id = i.class_id
      where i.provider_id = n.provider_id and c.name = n.placement_class and i.total = 1 and i.capacity = 1)`),
  'a node is blocked unless it is available, not in maintenance and not retired': count(`
    select 1 from nodes n join inventories i on i.provider_id = n.provider_id
    where (i.blocked = 0) <> (n.provision_state = 'available' and n.maintenance = 0 and n.retired = 0)`),
  'a node has at most one claim': count(`
    select provider_id from claims where provider_id in (select provider_id from nodes)
    group by provider_id having count(*) > 1`),
  'a node’s instance has claimed it, and is managed': count(`
    select 1 from nodes n where n.instance_uuid is not null and not exists (
      select 1 from claims c join consumers k on k.id = c.consumer_id
      where c.provider_id = n.provider_id and k.uuid = n.instance_uuid and k.managed_by = 'baremetal')`),
  'a consumer managed by bare metal is the instance of a node, or a hold': count(`
    select 1 from consumers k where k.managed_by = 'baremetal'
      and not exists (select 1 from nodes n where n.instance_uuid = k.uuid)
      and not exists (select 1 from reservations r where r.uuid = k.uuid)`),
  'an instance has one node, or one that is held for it': count(`
    select instance_uuid from (
      select instance_uuid from nodes where instance_uuid is not null
      union all select instance_uuid from reservations) as places
    group by instance_uuid having count(*) > 1
    union all
    select k.uuid from consumers k join claims c on c.consumer_id = k.id join nodes n on n.provider_id = c.provider_id
    where k.managed_by = 'baremetal' group by k.uuid having count(*) > 1`),
  'an active allocation is its node’s instance': count(`
    select 1 from allocations a left join nodes n on n.id = a.node_id
    where a.state = 'active' and (n.id is null or n.instance_uuid is null or n.instance_uuid <> a.uuid)`),
  'an allocation without a node has claimed none': count(`
    select 1 from allocations a join consumers k on k.uuid = a.uuid join claims c on c.consumer_id = k.id
    join nodes n on n.provider_id = c.provider_id where a.node_id is null`),
  'an allocation that failed says why': count(`
    select 1 from allocations where state = 'error' and last_error is null`),
  'a kept allocation alone has claimed its node': count(`
    select 1 from allocations a join nodes n on n.id = a.node_id where a.keeper is not null and (
      select count(*) from claims c join consumers k on k.id = c.consumer_id
      where c.provider_id = n.provider_id and k.uuid = a.uuid) <> (
      select count(*) from claims c where c.provider_id = n.provider_id)`),
  'a keeper has a name, a proof and a time, and only a kept allocation is being ended by someone': count(`
    select 1 from allocations where (keeper is not null and (coalesce(kept_until, expires_at) is null or keeper not like '_%/________________%'))
      or (ending_at is not null and (keeper is null or state <> 'active'))
      or (ending_at is null) <> (ending_by is null) or (ending_at is null and ending_message is not null)`),
  'a hold has claimed its node alone, until it ends': count(`
    select 1 from reservations r join nodes n on n.id = r.node_id where n.instance_uuid is not null
      or not exists (select 1 from claims c join consumers k on k.id = c.consumer_id
        where c.provider_id = n.provider_id and k.uuid = r.uuid and k.type = 'RESERVATION'
          and k.expires_at = r.expires_at)`),
  'a node on its way has work written down, and a settled one none but power': count(`
    select 1 from nodes where (provision_state in (${BUSY}) and transition is null)
      or (target_provision_state is not null) <> (provision_state in (${BUSY}))`),
  'a locked node has work, and work has a due time': count(`
    select 1 from nodes where (lock_incarnation is not null and transition is null)
      or (transition is null) <> (due_at is null)`),
  'a question to a machine is gone soon after its time': leftCalls,
  'an answer is one answer, or one failure': count(`
    select 1 from calls where (answered_at is null) <> (answer is null and failure is null)
      or (answer is not null and failure is not null)`),
  'a lock is a conductor’s that is there, or was until a moment ago': abandonedLocks,
  'a node has no more traits than it may': count(`
    select provider_id from provider_traits where origin = '${OWNER}'
    group by provider_id having count(*) > ${limits.nodeTraitsMax}`),
  'ports, portgroups, nodes and holds are of what exists': danglings(
    ['nodes.chassis_id', 'chassis.id'],
    ['ports.node_id', 'nodes.id'],
    ['ports.portgroup_id', 'portgroups.id'],
    ['portgroups.node_id', 'nodes.id'],
    ['volume_connectors.node_id', 'nodes.id'],
    ['volume_targets.node_id', 'nodes.id'],
    ['reservations.node_id', 'nodes.id'],
    ['calls.node_id', 'nodes.id'],
    ['reservations.uuid', 'consumers.uuid'],
  ),
  'a port is in a portgroup of its own node': count(`
    select 1 from ports p join portgroups g on g.id = p.portgroup_id where g.node_id <> p.node_id`),
  'a node’s revision and the term of its lock are not below zero': count(`
    select 1 from nodes where revision < 0 or lock_term < 0`),
  'nodes, and what they have, have uuids in small letters': capitals(
    'nodes.uuid',
    'nodes.instance_uuid',
    'chassis.uuid',
    'ports.uuid',
    'portgroups.uuid',
    'deploy_templates.uuid',
    'volume_connectors.uuid',
    'volume_targets.uuid',
    'allocations.uuid',
    'reservations.uuid',
    'reservations.instance_uuid',
  ),
}
