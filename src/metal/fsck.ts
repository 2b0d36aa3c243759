// Invariants of nodes and of their providers in the ledger. Each is a query that counts violations.
import { sql } from 'kysely'
import { limits } from '../shared/limits.ts'
import { capitals, count, danglings, type Invariants } from '../store/fsck.ts'
import { query } from '../store/statement.ts'
import { databaseNow } from '../clock/database-now.ts'
import { OWNER } from './nodes/rows.ts'
import { STEPS } from './nodes/states.ts'

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

export const metalInvariants: Invariants = {
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
