// What a hand, a bad disk or a half-done restore could write into the fleet of rich-fleet.ts, and which invariant says so.
import { JSON_COLUMNS } from '../../src/store/schema/json-columns.ts'
import { TIME_COLUMNS } from '../../src/store/schema/time-columns.ts'

export interface Corruption {
  sql: string
  /** A part of the name of an invariant that finds it. */
  found?: string
  /** Or why nothing can. */
  why?: string
}

const node = (name: string) => `name = '${name}'`
const lease = (name: string) => `(select id from leases where name = '${name}')`
const found = (invariant: string, ...statements: string[]): Corruption[] =>
  statements.map(sql => ({ sql, found: invariant }))
const blind = (why: string, ...statements: string[]): Corruption[] => statements.map(sql => ({ sql, why }))

const FAR = 40 * 365 * 24 * 3_600_000

const json = Object.entries(JSON_COLUMNS).flatMap(([table, columns]) =>
  Object.keys(columns).flatMap(column =>
    found(
      `every JSON text of ${table} can be read`,
      `update ${table} set ${column} = 'x'`,
      `update ${table} set ${column} = ''`,
      `update ${table} set ${column} = '5'`,
    ),
  ),
)

const times = Object.entries(TIME_COLUMNS).flatMap(([table, columns]) =>
  Object.entries(columns as Record<string, string>).flatMap(([column, when]) =>
    found(
      `every time in ${table} can be shown`,
      `update ${table} set ${column} = 8640000000000001`,
      `update ${table} set ${column} = -1`,
      ...(when === 'over' ? [`update ${table} set ${column} = ${Date.now() + FAR}`] : []),
    ),
  ),
)

export const CORRUPTIONS: Corruption[] = [
  ...json,
  ...times,

  // The ledger.
  ...found(
    'a consumer that ends is a hold',
    `update consumers set expires_at = 1 where type = 'ALLOCATION'`,
    `update consumers set expires_at = 1 where managed_by = 'compute'`,
    `update consumers set expires_at = expires_at + 1 where expires_at is not null`,
    `update consumers set type = 'ALLOCATION' where expires_at is not null`,
  ),
  ...found(
    'until it ends',
    `update consumers set expires_at = null`,
    `update reservations set expires_at = expires_at + 60000`,
    `update consumers set managed_by = null where type = 'RESERVATION'; delete from claims where consumer_id in (
      select id from consumers where type = 'RESERVATION')`,
  ),
  ...found(
    'use is the sum of its claims',
    `update inventories set used = used + 1`,
    `update claims set used = used + 1`,
  ),
  ...found('not above its ceiling', `update inventories set used = ceiling + 1`),
  ...found('a ceiling is not below the capacity', `update inventories set ceiling = capacity - 1`),
  ...found(
    'is what its total, reserved and ratio make of it',
    `update inventories set capacity = capacity + 1`,
    `update inventories set allocation_ratio = 16`,
    `update inventories set reserved = total`,
  ),
  ...found('in whole steps', `update inventories set step_size = 0`, `update inventories set max_unit = 0`),
  ...found('reserves no less than nothing', `update inventories set reserved = -1`, `update inventories set total = 0`),
  ...found('a claim is of something', `update claims set used = 0`),
  ...found('of an inventory and a consumer that exist', `delete from inventories`, `delete from consumers`),
  ...found('a consumer has claims', `delete from claims`),
  ...found('a consumer’s generation is above zero', `update consumers set generation = 0`),
  ...found('generation and revision are not below zero', `update providers set generation = -1`),
  ...found('has the root of its parent', `update providers set root_id = (select min(id) from providers)`),
  ...found('ancestors end at its root', `update providers set parent_id = id`),
  ...found(
    'whoever manages a provider, a class or a consumer',
    `update providers set managed_by = 'nobody' where managed_by is not null`,
    `update providers set dedicated_to = 'me'`,
    `update resource_classes set managed_by = 'x'`,
    `update consumers set managed_by = 'x'`,
  ),
  ...found('providers and consumers have uuids', `update consumers set uuid = upper(uuid)`),
  ...found('a trait is from Placement’s clients', `update provider_traits set origin = 'x'`),

  // Nodes, allocations and holds.
  ...found(
    'a node is in states that there are',
    `update nodes set provision_state = 'avaliable' where ${node('spare')}`,
    `update nodes set power_state = 'on'`,
    `update nodes set target_power_state = 'off'`,
    `update nodes set target_provision_state = 'gone'`,
  ),
  ...found('is blocked unless it is available', `update nodes set maintenance = 1 where ${node('spare')}`),
  ...found(
    'is named after its own',
    `update nodes set resource_class = 'gold' where ${node('spare')}`,
    `update nodes set placement_class = 'CUSTOM_GOLD' where ${node('spare')}`,
  ),
  ...found('offers one of its class', `update nodes set placement_class = 'CUSTOM_GOLD' where ${node('spare')}`),
  ...found(
    'work on a node is due before long',
    `update nodes set transition = '{"kind":"power","target":"power on","args":{}}', due_at = ${Date.now() + FAR}
      where ${node('spare')}`,
  ),
  ...found('work has a due time', `update nodes set due_at = 1 where ${node('spare')}`),
  ...found(
    'a locked node has work',
    `update nodes set reservation = 'x', lock_incarnation = 'x' where ${node('spare')}`,
  ),
  ...found('has work written down', `update nodes set target_provision_state = 'available' where ${node('spare')}`),
  ...found(
    'a node that is to be emptied has a machine',
    `update nodes set leftover = 1 where ${node('spare')}`,
    `update nodes set leftover = 1 where ${node('had')}`,
  ),
  ...found('a lessee to go back to', `update nodes set lessee_before = 'p9' where ${node('spare')}`),
  ...found('the node above a node is there', `update nodes set parent_node = 'x' where ${node('spare')}`),
  ...found('instance has claimed it', `update nodes set instance_uuid = 'x' where ${node('spare')}`),
  ...found(
    'an active allocation is its node’s instance',
    `update nodes set instance_uuid = null where ${node('had')}`,
    `update allocations set node_id = (select id from nodes where ${node('spare')}) where ${node('had')}`,
  ),
  ...found(
    'an allocation without a node has claimed none',
    `update allocations set node_id = null where ${node('had')}`,
  ),
  ...found(
    'a node of the class that it asked for',
    `update allocations set resource_class = 'gold' where ${node('had')}`,
  ),
  ...found(
    'has claimed is its project’s',
    `update allocations set project_id = 'p9' where ${node('had')}`,
    `update allocations set user_id = 'u9' where ${node('had')}`,
    `update consumers set project_id = 'p9' where type = 'ALLOCATION'`,
    `update reservations set project_id = 'p9'`,
  ),
  ...found('an allocation that failed says why', `update allocations set last_error = null`),
  ...found('that looks for a node is a conductor’s', `update allocations set conductor_affinity = ''`),
  ...found(
    'only a kept allocation is kept until some time',
    `update allocations set kept_until = 1 where ${node('had')}`,
    `update allocations set planned_end = 1 where ${node('had')}`,
  ),
  ...found(
    'a keeper has a name, a proof and a time',
    `update allocations set keeper = 'alice' where ${node('kept')}`,
    `update allocations set expires_at = null where ${node('kept')}`,
    `update allocations set ending_at = 1`,
  ),
  ...found(
    'addresses in small letters',
    `update ports set address = '52:54:00:AA:00:02'`,
    `update portgroups set address = '52:54:00:AA:00:02'`,
  ),
  ...found('nodes, and what they have, have uuids', `update ports set uuid = upper(uuid)`),
  ...found(
    'in a portgroup of its own node',
    `update ports set node_id = (select id from nodes where ${node('spare')})`,
  ),
  ...found('of a kind that there is', `update node_documents set kind = 'x'`),
  ...found('last sign is not still to come', `update conductors set heartbeat_at = heartbeat_at + 600000`),
  ...found(
    'used of late is no less',
    `update project_usages set used = -1`,
    `update node_uses set until_at = from_at`,
    `update project_priorities set share = 0`,
    `update project_priorities set priority = 1000`,
  ),
  ...found('an answer is one answer', `update calls set answered_at = 1`),
  ...found(
    'ports, portgroups, nodes and holds are of',
    `update nodes set chassis_id = 999`,
    `update volume_connectors set node_id = 999`,
    `update volume_targets set node_id = 999`,
    `update calls set node_id = 999`,
  ),

  // Servers.
  ...found(
    'what a server has claimed is its project’s',
    `update servers set project_id = 'p9'`,
    `update servers set user_id = 'u9'`,
  ),
  ...found(
    'a server has a task only while',
    `update servers set task = 'spawning', updated_at = 0`,
    `update servers set task = 'deleting'`,
    `update servers set task = 'migrating'`,
    `update servers set status = 'BUILD'`,
  ),
  ...found('waits for its owner’s word', `update servers set status = 'ACTIVE'`),
  ...found(
    'at most one move at a time',
    `insert into moves (uuid, server_id, kind, status, source_id, target_id, flavor_before, wish_before, status_before,
      created_at, updated_at) select 'x', server_id, kind, status, source_id, target_id, flavor_before, wish_before,
      status_before, created_at, updated_at from moves`,
  ),
  ...found('a move that is under way holds claims', `update moves set uuid = 'x'`),
  ...found('a server on a hypervisor has claims', `update servers set host_id = 1`),
  ...found(
    'a hypervisor is a provider that nothing else manages',
    `insert into hypervisors (provider_id, state, status, updated_at)
      select provider_id, 'up', 'enabled', 0 from nodes where ${node('spare')}`,
  ),
  ...found(
    'a flavor has sizes',
    `update flavors set vcpus = -1`,
    `update flavors set rxtx_factor = 0`,
    `update flavors set managed_by = 'x'`,
  ),
  ...found('access is to a private flavor', `update flavors set is_public = 1`),
  ...found('hypervisors, servers, moves and access are of', `update hypervisors set provider_id = provider_id + 900`),

  // Leases.
  ...found(
    'a booking takes what its slots ask for',
    `update bookings set vcpus = 0`,
    `update bookings set memory_mb = 0`,
    `update bookings set disk_gb = disk_gb + 1`,
    `update bookings set slots = slots + 1`,
    `update lease_reservations set terms = replace(terms, '"vcpus":2', '"vcpus":20')`,
  ),
  ...found(
    'a booking takes of other classes',
    `update bookings set extras = null`,
    `update bookings set extras = '{}' where extras is not null`,
    `update bookings set extras = '{"CUSTOM_GPU":1}' where extras is not null`,
  ),
  ...found('leased as a whole', `update bookings set is_whole = 1 - is_whole`),
  ...found(
    'as many hosts or nodes as it asked for',
    `update lease_reservations set terms = replace(replace(terms, '"min":1', '"min":5'), '"max":1', '"max":5')`,
  ),
  ...found(
    'the terms of a reservation are of its type',
    `update lease_reservations set resource_type = 'physical:host' where resource_type = 'physical:node'`,
  ),
  ...found(
    'the flavor of a reservation has the sizes',
    `update flavors set vcpus = vcpus * 10 where managed_by = 'leases'`,
    `update flavors set ram_mb = 1 where managed_by = 'leases'`,
  ),
  ...found(
    'an event of a lease is due at its time',
    `update lease_events set due_at = ${Date.now() + FAR} where event_type = 'end_lease'`,
    `update lease_events set due_at = ${Date.now() + FAR} where event_type = 'start_lease' and due_at is not null`,
    `update lease_events set due_at = ${Date.now() + FAR} where event_type = 'before_end_lease'`,
  ),
  ...found(
    'is between its start and its end',
    `update lease_events set time = time + ${FAR} where event_type = 'before_end_lease'`,
    `update lease_events set attempts = -1`,
  ),
  ...found(
    'the times of start and end are those of the lease',
    `update lease_events set time = time + 60000 where event_type = 'start_lease'`,
    `update leases set end_at = end_at + 60000`,
  ),
  ...found(
    'status, its reservations’ and its events’',
    `update lease_events set due_at = null where event_type = 'end_lease'`,
    `delete from lease_events where event_type = 'end_lease'`,
    `update lease_reservations set status = 'pending' where lease_id = ${lease('running')}`,
    `update leases set status = 'TERMINATED'`,
  ),
  ...found('is degraded exactly when', `update leases set degraded = 1`),
  ...found('a lease that was deleted is ending', `update leases set is_deleted = 1`),
  ...found('a booking is in the window of its lease', `update bookings set end_at = end_at - 60000`),
  ...found('more booked of a host than it has', `update leasables set vcpus_ceiling = 0`),
  ...found(
    'more booked of another class of a host',
    `update leasables set extras_ceiling = '{}' where extras_ceiling is not null`,
  ),
  ...found(
    'a running lease has each node that it booked',
    `update bookings set allocation = 'x' where allocation is not null`,
  ),
  ...found('every property of a host is known', `delete from host_properties`),
  ...found('what can be leased has its provider’s name', `update leasables set name = name || 'x'`),
  ...found('is dedicated to leases', `update providers set dedicated_to = null`),
  ...found('promised from its first booking on', `update nodes set pledged_at = null`, `update nodes set leasable = 0`),
  ...found('leased to its project', `update nodes set leased_to = 'p9' where ${node('leased')}`),
  ...found(
    'work for Nova is of a reservation’s own lease',
    `update nova_work set lease_id = 'x'`,
    `update nova_work set version = 0`,
    `update nova_work set attempts = -1`,
  ),
  ...found('what Nova should have is there', `update nova_work set error = 'x'`),
  ...found('access to a reservation’s flavor', `delete from flavor_access`),
  ...found(
    'has its class, and its flavor',
    `delete from flavors`,
    `delete from resource_classes where managed_by = 'leases'`,
  ),

  // Webhooks, calendars, quotas, logins.
  ...found(
    'what was delivered has an answer',
    `update deliveries set answered_at = null`,
    `update deliveries set answer_status = 500`,
    `update deliveries set answer_status = null`,
  ),
  ...found(
    'a delivery is tried again before long',
    `update deliveries set due_at = ${Date.now() + FAR} where due_at is not null`,
  ),
  ...found(
    'only the oldest is due',
    `update deliveries set due_at = null`,
    `update webhooks set state = 'paused', reason = 'x'`,
  ),
  ...found(
    'a delivery is of its webhook’s project',
    `update deliveries set project_id = 'p9'`,
    `update deliveries set message = 'x' || message`,
  ),
  ...found('place in the log is not before', `update webhooks set cursor_sequence = 0`),
  ...found('no webhook is ahead of the log', `update webhooks set cursor_sequence = 1000000`),
  ...found(
    'a webhook that is not active says why',
    `update webhooks set state = 'disabled'`,
    `update webhooks set secret = null`,
    `update webhooks set old_secret = 'x'`,
  ),
  ...found('webhooks have uuids in small letters', `update webhooks set uuid = upper(uuid)`),
  ...found('every delivery belongs to a webhook', `delete from webhooks`),
  ...found(
    'a calendar has the hash of a token',
    `update calendars set token_hash = '' where kind = 'node'`,
    `update calendars set kind = 'x'`,
    `update calendars set auth = 'x'`,
    `update calendars set whose = ''`,
  ),
  ...found('a limit has a name', `update quotas set name = 'node' where name = 'nodes'`, `update quotas set max = -2`),
  ...found('a key that signs tokens', `update token_keys set secret = 'x'`, `update token_keys set retired_at = 1`),
  ...found(
    'an application credential is someone’s',
    `update application_credentials set secret = ''`,
    `update application_credentials set user_id = ''`,
    `update application_credentials set expires_at = 1`,
    `update application_credentials set unrestricted = 7`,
  ),
  ...found('a name that was seen', `update seen_names set kind = 'x'`, `update seen_names set name = ''`),
  ...found(
    'the sealed part of the audit',
    `update log set user_id = 'x'`,
    `delete from log where id = (select min(id) from log where action <> '')`,
    `update audit_seals set seal = 'x'`,
    `update audit_chain set head_last = head_last + 1`,
  ),

  // What nothing in the database tells from what is right.
  ...blind('nothing else says that it was to be sent', `delete from deliveries where status = 'pending'`),
  ...blind(
    'a host that has become smaller keeps its ceiling until its next booking; what it has decides',
    `update leasables set vcpus_ceiling = vcpus_ceiling * 1000`,
    `update leasables set memory_mb_ceiling = memory_mb_ceiling * 1000`,
  ),
  ...blind('flavors are deleted while servers have them', `update servers set flavor_id = 'x'`),
  ...blind('a calendar outlives its node, and is empty', `update calendars set whose = 'x' where kind = 'node'`),
  ...blind('only a server with --test-clock reads it', `update test_clock set ahead_ms = 94608000000`),
  ...blind(
    'a lease has it only if it is told of its end beforehand',
    `delete from lease_events where event_type = 'before_end_lease'`,
  ),
  ...blind('it counts tries, and only makes the next pause longer', `update lease_events set attempts = 99`),
  ...blind('it could have been revoked for so long', `update revoked_tokens set expires_at = 1`),
  ...blind('nothing else says that it was revoked', `delete from revoked_tokens`),
  ...blind('nothing else has the key', `update token_keys set secret = '${'B'.repeat(43)}='`),
  ...blind('any name may be anyone’s', `update seen_names set name = 'mallory'`),
  ...blind('any limit could have been set', `update quotas set max = 1`),
  ...blind('any share could have been set', `update project_priorities set priority = 9`),
  ...blind('any secret could have been made', `update webhooks set secret = 'x'`),
  ...blind('only the machine knows', `update nodes set power_state = 'power off'`),
  ...blind('anyone may have been the owner', `update nodes set owner = 'p9'`),
  ...blind(
    'any end could have been asked for',
    `update allocations set expires_at = 2000000000000 where ${node('kept')}`,
  ),
  ...blind('any size of a flavor could have been meant', `update flavors set vcpus = 64 where managed_by is null`),
  ...blind('any text may be there', `update ports set address = '52:54:00:00:00:99'`),
]
