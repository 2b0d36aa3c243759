-- A consumer may have an end: claims past it are given up to whoever wants the room next.
alter table consumers add column expires_at integer;
create index consumers_by_expiry on consumers (expires_at) where expires_at is not null;

-- An allocation is a wish for a node, and then the having of one: its uuid is the node's instance_uuid and the consumer.
-- conductor_affinity is the incarnation of the conductor that works on it; every write of that conductor is guarded by it.
create table allocations (
  id integer primary key,
  uuid text not null unique,
  name text unique,
  node_id integer unique references nodes (id),
  resource_class text not null,
  traits text not null,
  candidate_nodes text not null,
  extra text not null,
  owner text,
  project_id text not null,
  user_id text not null,
  state text not null check (state in ('allocating', 'active', 'error')),
  last_error text,
  reasons text,
  conductor_affinity text not null,
  wait_until integer,
  expires_at integer,
  created_at integer not null,
  updated_at integer,
  check ((state = 'active') = (node_id is not null))
) strict;
create index allocations_at_work on allocations (conductor_affinity) where state = 'allocating';
create index allocations_waiting on allocations (id) where state = 'allocating' and wait_until is not null;
create index allocations_by_expiry on allocations (expires_at) where expires_at is not null;
create index allocations_by_class on allocations (resource_class);
create index allocations_by_owner on allocations (owner) where owner is not null;

-- A reservation holds a node for an instance until expires_at. It is the consumer of the same uuid, and goes with it.
create table reservations (
  id integer primary key,
  uuid text not null unique references consumers (uuid) on delete cascade,
  node_id integer not null unique references nodes (id),
  instance_uuid text not null,
  owner text,
  expires_at integer not null,
  created_at integer not null,
  updated_at integer
) strict;
create index reservations_by_expiry on reservations (expires_at);
create index reservations_by_instance on reservations (instance_uuid);
