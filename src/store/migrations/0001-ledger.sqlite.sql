create table resource_classes (
  id integer primary key,
  name text not null unique,
  created_at integer not null,
  updated_at integer
) strict;

create table traits (
  id integer primary key,
  name text not null unique,
  created_at integer not null
) strict;

-- managed_by names the part of Holdfast that owns the row; null is Placement's own.
-- revision grows with every change of anything about the provider; generation only when clients are to see it.
create table providers (
  id integer primary key,
  uuid text not null unique,
  name text not null unique,
  generation integer not null default 0,
  revision integer not null default 0,
  parent_id integer references providers (id),
  root_id integer references providers (id),
  managed_by text,
  created_at integer not null,
  updated_at integer
) strict;
create index providers_by_parent on providers (parent_id);
create index providers_by_root on providers (root_id);

-- capacity = floor((total - reserved) * allocation_ratio).
-- ceiling = max(capacity, used when the inventory was last changed): operators may lower an inventory
-- below its use, and still no bug of ours can oversell it.
create table inventories (
  provider_id integer not null references providers (id) on delete cascade,
  class_id integer not null references resource_classes (id),
  total integer not null,
  reserved integer not null,
  min_unit integer not null,
  max_unit integer not null,
  step_size integer not null,
  allocation_ratio real not null,
  capacity integer not null,
  used integer not null default 0 check (used >= 0),
  ceiling integer not null,
  blocked integer not null default 0 check (blocked in (0, 1)),
  created_at integer not null,
  updated_at integer,
  primary key (provider_id, class_id),
  check (used <= ceiling)
) strict, without rowid;
create index inventories_by_class on inventories (class_id);

create table provider_traits (
  provider_id integer not null references providers (id) on delete cascade,
  trait_id integer not null references traits (id),
  primary key (provider_id, trait_id)
) strict, without rowid;
create index provider_traits_by_trait on provider_traits (trait_id);

create table provider_aggregates (
  provider_id integer not null references providers (id) on delete cascade,
  aggregate text not null,
  primary key (provider_id, aggregate)
) strict, without rowid;
create index provider_aggregates_by_aggregate on provider_aggregates (aggregate);

create table consumers (
  id integer primary key,
  uuid text not null unique,
  project_id text not null,
  user_id text not null,
  type text,
  generation integer not null,
  managed_by text,
  created_at integer not null,
  updated_at integer
) strict;
create index consumers_by_project on consumers (project_id, user_id);

-- The reference to inventories forbids removing an inventory that is in use.
create table claims (
  consumer_id integer not null references consumers (id),
  provider_id integer not null,
  class_id integer not null,
  used integer not null check (used > 0),
  created_at integer not null,
  primary key (consumer_id, provider_id, class_id),
  foreign key (provider_id, class_id) references inventories (provider_id, class_id)
) strict, without rowid;
-- By provider alone: then the claims of one consumer lie side by side, and a commit touches a third of the pages.
create index claims_by_provider on claims (provider_id);
