-- What is known of a hypervisor beyond its provider. One that nobody has said anything about is up and enabled.
create table hypervisors (
  provider_id integer primary key references providers (id) on delete cascade,
  state text not null check (state in ('up', 'down')),
  status text not null check (status in ('enabled', 'disabled')),
  disabled_reason text,
  updated_at integer not null
) strict;
create index hypervisors_unusable on hypervisors (provider_id) where state = 'down' or status = 'disabled';

-- id is the clients' id. managed_by names the part of Holdfast that owns the flavor; null is the clients' own.
create table flavors (
  id text primary key,
  name text not null unique,
  vcpus integer not null,
  ram_mb integer not null,
  disk_gb integer not null,
  ephemeral_gb integer not null,
  swap_mb integer not null,
  rxtx_factor real not null,
  is_public integer not null check (is_public in (0, 1)),
  disabled integer not null check (disabled in (0, 1)),
  extra_specs text not null,
  managed_by text,
  created_at integer not null
) strict, without rowid;
create index flavors_public on flavors (id) where is_public = 1;

create table flavor_access (
  flavor_id text not null references flavors (id) on delete cascade,
  project_id text not null,
  primary key (flavor_id, project_id)
) strict, without rowid;
create index flavor_access_by_project on flavor_access (project_id);

-- A server with a host has claims there, as the consumer of its uuid; one on bare metal is the instance of that node.
-- wish is what its flavor asked for when the server was made: a flavor may change or go while the server stays.
create table servers (
  id integer primary key,
  uuid text not null unique,
  name text not null,
  project_id text not null,
  user_id text not null,
  flavor_id text not null,
  image_id text,
  wish text not null,
  host_id integer references providers (id) on delete set null,
  is_metal integer not null check (is_metal in (0, 1)),
  status text not null check (status in ('BUILD', 'ACTIVE', 'SHUTOFF', 'VERIFY_RESIZE', 'ERROR')),
  task text check (task in ('spawning', 'migrating', 'deleting', 'tearing down')),
  fault text,
  fault_at integer,
  key_name text,
  metadata text not null,
  reservation_id text not null,
  launched_at integer,
  created_at integer not null,
  updated_at integer not null,
  check (status <> 'ERROR' or fault is not null)
) strict;
create index servers_by_project on servers (project_id, id);
create index servers_by_flavor on servers (flavor_id);
create index servers_by_host on servers (host_id);
create index servers_by_name on servers (name);
create index servers_at_work on servers (id) where task is not null;
create index servers_on_metal on servers (id) where is_metal = 1;

-- A move of a server. While it holds the claims that the server had before, it is the consumer of its own uuid.
create table moves (
  id integer primary key,
  uuid text not null unique,
  server_id integer not null references servers (id) on delete cascade,
  kind text not null check (kind in ('migration', 'resize', 'live-migration', 'evacuation')),
  status text not null check (status in ('running', 'finished', 'done', 'confirmed', 'reverted', 'completed')),
  source_id integer references providers (id) on delete set null,
  target_id integer references providers (id) on delete set null,
  flavor_before text not null,
  wish_before text not null,
  status_before text not null,
  created_at integer not null,
  updated_at integer not null
) strict;
create index moves_by_server on moves (server_id);
create index moves_by_source on moves (source_id);
create index moves_by_target on moves (target_id);
create index moves_under_way on moves (id) where status in ('running', 'finished', 'done');
