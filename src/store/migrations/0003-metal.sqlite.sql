create table chassis (
  id integer primary key,
  uuid text not null unique,
  description text,
  extra text not null,
  created_at integer not null,
  updated_at integer
) strict;

-- A conductor is a process: the name is what people see, the incarnation is who it is.
-- Heartbeats are by the database's clock, so that all who look agree on who is late.
create table conductors (
  id integer primary key,
  hostname text not null unique,
  incarnation text not null unique,
  conductor_group text not null,
  drivers text not null,
  online integer not null check (online in (0, 1)),
  registered_at integer not null,
  heartbeat_at integer not null
) strict;

-- A node is the provider of the same uuid; its traits are that provider's, and instance_uuid is a claim on it.
-- transition is the work under way; with lock_incarnation a conductor is at it, without one it waits until due_at.
-- revision grows with every change, and never repeats for a uuid: what was read once is known to be current.
-- lock_term grows with every lock: a write by a conductor that lost its lock finds another term and changes nothing.
create table nodes (
  id integer primary key,
  uuid text not null unique,
  provider_id integer not null unique references providers (id),
  name text unique,
  driver text not null,
  chassis_id integer references chassis (id),
  provision_state text not null,
  target_provision_state text,
  provision_updated_at integer,
  power_state text,
  target_power_state text,
  last_error text,
  fault text,
  maintenance integer not null check (maintenance in (0, 1)),
  maintenance_reason text,
  console_enabled integer not null,
  instance_uuid text unique,
  resource_class text,
  placement_class text not null,
  owner text,
  lessee text,
  description text,
  conductor_group text not null,
  conductor text,
  automated_clean integer,
  protected integer not null check (protected in (0, 1)),
  protected_reason text,
  retired integer not null check (retired in (0, 1)),
  retired_reason text,
  shard text,
  boot_mode text,
  secure_boot integer,
  inspection_started_at integer,
  inspection_finished_at integer,
  interfaces text not null,
  driver_info text not null,
  driver_internal_info text not null,
  properties text not null,
  extra text not null,
  instance_info text not null,
  network_data text not null,
  raid_config text not null,
  target_raid_config text not null,
  clean_step text not null,
  deploy_step text not null,
  transition text,
  due_at integer,
  reservation text,
  lock_incarnation text,
  lock_term integer not null,
  revision integer not null,
  created_at integer not null,
  updated_at integer,
  check ((reservation is null) = (lock_incarnation is null)),
  check (lock_incarnation is null or transition is not null)
) strict;
create index nodes_by_chassis on nodes (chassis_id);
create index nodes_at_work on nodes (due_at) where transition is not null;
create index nodes_by_state on nodes (provision_state);
create index nodes_by_class on nodes (resource_class);

create table portgroups (
  id integer primary key,
  uuid text not null unique,
  node_id integer not null references nodes (id) on delete cascade,
  name text unique,
  address text unique,
  mode text not null,
  standalone_ports_supported integer not null,
  properties text not null,
  extra text not null,
  created_at integer not null,
  updated_at integer
) strict;
create index portgroups_by_node on portgroups (node_id);

create table ports (
  id integer primary key,
  uuid text not null unique,
  node_id integer not null references nodes (id) on delete cascade,
  portgroup_id integer references portgroups (id) on delete set null,
  address text not null unique,
  name text unique,
  pxe_enabled integer not null,
  is_smartnic integer not null,
  physical_network text,
  local_link_connection text not null,
  internal_info text not null,
  extra text not null,
  created_at integer not null,
  updated_at integer
) strict;
create index ports_by_node on ports (node_id);
create index ports_by_portgroup on ports (portgroup_id);
