-- Steps that are added to the deployment of an instance with the trait of this name.
create table deploy_templates (
  id integer primary key,
  uuid text not null unique,
  name text not null unique,
  steps text not null,
  extra text not null,
  created_at integer not null,
  updated_at integer
) strict;

-- How a node reaches remote volumes: its initiator, its addresses.
create table volume_connectors (
  id integer primary key,
  uuid text not null unique,
  node_id integer not null references nodes (id) on delete cascade,
  type text not null,
  connector_id text not null,
  extra text not null,
  created_at integer not null,
  updated_at integer,
  unique (type, connector_id)
) strict;
create index volume_connectors_by_node on volume_connectors (node_id);

-- The remote volumes of a node.
create table volume_targets (
  id integer primary key,
  uuid text not null unique,
  node_id integer not null references nodes (id) on delete cascade,
  volume_type text not null,
  volume_id text not null,
  boot_index integer not null check (boot_index >= 0),
  properties text not null,
  extra text not null,
  created_at integer not null,
  updated_at integer,
  unique (node_id, boot_index)
) strict;
