-- The part of Holdfast that alone hands this provider out: whoever claims of it must, in the same request, claim of a
-- child of it that this part manages.
alter table providers add column dedicated_to text collate "C";

-- As of providers and consumers: the part of Holdfast that owns the class, null for Placement's own.
alter table resource_classes add column managed_by text collate "C";

-- A node that a calendar hands out, and from when on it is promised: until then others may have it, but not longer.
alter table nodes add column leasable bigint not null default 0 check (leasable in (0, 1));
alter table nodes add column pledged_at bigint;

-- What can be leased: compute hosts, and bare metal nodes that were enrolled for it. The provider is the host's or the
-- node's own; reservation_provider is the uuid of the host's child, where the slots of started leases are inventories.
-- version grows with every change of the bookings, under the row's lock: of two views the newer one is known.
-- The ceilings are what bookings are held to: the capacity of the host, or what was booked when that was lowered.
create table leasables (
  provider_id bigint primary key references providers (id),
  kind text collate "C" not null check (kind in ('host', 'node')),
  name text collate "C" not null unique,
  reservation_provider text collate "C" unique,
  reservable bigint not null check (reservable in (0, 1)),
  version bigint not null default 0,
  vcpus_ceiling bigint not null,
  memory_mb_ceiling bigint not null,
  disk_gb_ceiling bigint not null,
  created_at bigint not null,
  updated_at bigint,
  check ((kind = 'host') = (reservation_provider is not null))
);

create index leasables_closed on leasables (provider_id) where reservable = 0;

create table host_capabilities (
  provider_id bigint not null references leasables (provider_id) on delete cascade,
  name text collate "C" not null,
  value text collate "C" not null,
  primary key (provider_id, name)
);
create index host_capabilities_by_name on host_capabilities (name, value);

create table host_properties (
  name text collate "C" primary key,
  id text collate "C" not null unique,
  is_private bigint not null check (is_private in (0, 1)),
  created_at bigint not null,
  updated_at bigint
);

-- is_deleted: its owner has deleted it, and the row only stays until all that it had is given back.
create table leases (
  id text collate "C" primary key,
  name text collate "C" not null,
  project_id text collate "C" not null,
  user_id text collate "C" not null,
  start_at bigint not null,
  end_at bigint not null,
  status text collate "C" not null check (status in ('PENDING', 'STARTING', 'ACTIVE', 'TERMINATING', 'TERMINATED')),
  degraded bigint not null check (degraded in (0, 1)),
  is_deleted bigint not null default 0 check (is_deleted in (0, 1)),
  created_at bigint not null,
  updated_at bigint,
  check (end_at >= start_at)
);
create index leases_by_project on leases (project_id, end_at);

create table lease_reservations (
  id text collate "C" primary key,
  lease_id text collate "C" not null references leases (id) on delete cascade,
  position bigint not null,
  resource_type text collate "C" not null check (resource_type in ('virtual:instance', 'physical:host', 'physical:node')),
  status text collate "C" not null check (status in ('pending', 'active', 'deleted')),
  terms text collate "C" not null,
  missing_resources bigint not null check (missing_resources in (0, 1)),
  resources_changed bigint not null check (resources_changed in (0, 1)),
  created_at bigint not null,
  updated_at bigint,
  unique (lease_id, position)
);

create index lease_reservations_missing on lease_reservations (id) where missing_resources = 1;

-- time is what was asked for; due_at is when it is worked on next, null once it is done.
create table lease_events (
  id text collate "C" primary key,
  lease_id text collate "C" not null references leases (id) on delete cascade,
  event_type text collate "C" not null check (event_type in ('start_lease', 'before_end_lease', 'end_lease')),
  time bigint not null,
  due_at bigint,
  attempts bigint not null default 0,
  created_at bigint not null,
  updated_at bigint,
  unique (lease_id, event_type)
);
create index lease_events_due on lease_events (due_at) where due_at is not null;

-- What a reservation has of a host or node, in [start_at, free_at): free_at is the end and the time for cleaning.
-- vcpus, memory_mb and disk_gb are those of all slots together. A booking is never changed, only replaced.
create table bookings (
  reservation_id text collate "C" not null references lease_reservations (id),
  provider_id bigint not null references leasables (provider_id),
  lease_id text collate "C" not null references leases (id),
  slots bigint not null check (slots > 0),
  is_whole bigint not null check (is_whole in (0, 1)),
  vcpus bigint not null check (vcpus >= 0),
  memory_mb bigint not null check (memory_mb >= 0),
  disk_gb bigint not null check (disk_gb >= 0),
  start_at bigint not null,
  end_at bigint not null,
  free_at bigint not null,
  allocation text collate "C" unique,
  primary key (reservation_id, provider_id),
  check (start_at <= end_at and end_at <= free_at)
);
create index bookings_by_provider on bookings (provider_id, free_at);
create index bookings_by_lease on bookings (lease_id);

-- The last line: whatever our decisions do, at no instant is more booked than there is. The use of a host only grows where
-- a booking starts, so these instants are all that have to be looked at. The lock is usually held already; with it here,
-- two transactions that forgot to take it can't both be right.
create function bookings_fit() returns trigger language plpgsql as $$
declare h leasables;
begin
  select * into h from leasables where provider_id = new.provider_id for update;
  if exists (
    select 1 from bookings s where s.provider_id = new.provider_id
      and s.free_at > new.start_at and s.start_at < new.free_at
      and (
        select count(*) > 1 and max(b.is_whole) = 1 or sum(b.vcpus) > h.vcpus_ceiling
          or sum(b.memory_mb) > h.memory_mb_ceiling or sum(b.disk_gb) > h.disk_gb_ceiling
        from bookings b where b.provider_id = new.provider_id
          and b.free_at > greatest(s.start_at, new.start_at) and b.start_at <= greatest(s.start_at, new.start_at)
      )
  ) then
    raise exception 'a booking does not fit';
  end if;
  return null;
end $$;
create trigger bookings_fit after insert on bookings for each row execute function bookings_fit();
create function bookings_stay() returns trigger language plpgsql as $$
begin
  raise exception 'a booking is replaced, not changed';
end $$;
create trigger bookings_stay before update of provider_id, slots, is_whole, vcpus, memory_mb, disk_gb, start_at, free_at
on bookings for each row execute function bookings_stay();

-- How far the clock of tests is ahead of the real one, for all processes.
create table test_clock (
  one bigint primary key check (one = 1),
  ahead_ms bigint not null
);
insert into test_clock (one, ahead_ms) values (1, 0);
