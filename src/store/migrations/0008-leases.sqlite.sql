-- The part of Holdfast that alone hands this provider out: whoever claims of it must, in the same request, claim of a
-- child of it that this part manages.
alter table providers add column dedicated_to text;

-- As of providers and consumers: the part of Holdfast that owns the class, null for Placement's own.
alter table resource_classes add column managed_by text;

-- A node that a calendar hands out, and from when on it is promised: until then others may have it, but not longer.
alter table nodes add column leasable integer not null default 0 check (leasable in (0, 1));
alter table nodes add column pledged_at integer;

-- What can be leased: compute hosts, and bare metal nodes that were enrolled for it. The provider is the host's or the
-- node's own; reservation_provider is the uuid of the host's child, where the slots of started leases are inventories.
-- version grows with every change of the bookings, under the row's lock: of two views the newer one is known.
-- The ceilings are what bookings are held to: the capacity of the host, or what was booked when that was lowered.
create table leasables (
  provider_id integer primary key references providers (id),
  kind text not null check (kind in ('host', 'node')),
  name text not null unique,
  reservation_provider text unique,
  reservable integer not null check (reservable in (0, 1)),
  version integer not null default 0,
  vcpus_ceiling integer not null,
  memory_mb_ceiling integer not null,
  disk_gb_ceiling integer not null,
  created_at integer not null,
  updated_at integer,
  check ((kind = 'host') = (reservation_provider is not null))
) strict;

create index leasables_closed on leasables (provider_id) where reservable = 0;

create table host_capabilities (
  provider_id integer not null references leasables (provider_id) on delete cascade,
  name text not null,
  value text not null,
  primary key (provider_id, name)
) strict, without rowid;
create index host_capabilities_by_name on host_capabilities (name, value);

create table host_properties (
  name text primary key,
  id text not null unique,
  is_private integer not null check (is_private in (0, 1)),
  created_at integer not null,
  updated_at integer
) strict, without rowid;

-- is_deleted: its owner has deleted it, and the row only stays until all that it had is given back.
create table leases (
  id text primary key,
  name text not null,
  project_id text not null,
  user_id text not null,
  start_at integer not null,
  end_at integer not null,
  status text not null check (status in ('PENDING', 'STARTING', 'ACTIVE', 'TERMINATING', 'TERMINATED')),
  degraded integer not null check (degraded in (0, 1)),
  is_deleted integer not null default 0 check (is_deleted in (0, 1)),
  created_at integer not null,
  updated_at integer,
  check (end_at >= start_at)
) strict, without rowid;
create index leases_by_project on leases (project_id, end_at);

create table lease_reservations (
  id text primary key,
  lease_id text not null references leases (id) on delete cascade,
  position integer not null,
  resource_type text not null check (resource_type in ('virtual:instance', 'physical:host', 'physical:node')),
  status text not null check (status in ('pending', 'active', 'deleted')),
  terms text not null,
  missing_resources integer not null check (missing_resources in (0, 1)),
  resources_changed integer not null check (resources_changed in (0, 1)),
  created_at integer not null,
  updated_at integer,
  unique (lease_id, position)
) strict, without rowid;

create index lease_reservations_missing on lease_reservations (id) where missing_resources = 1;

-- time is what was asked for; due_at is when it is worked on next, null once it is done.
create table lease_events (
  id text primary key,
  lease_id text not null references leases (id) on delete cascade,
  event_type text not null check (event_type in ('start_lease', 'before_end_lease', 'end_lease')),
  time integer not null,
  due_at integer,
  attempts integer not null default 0,
  created_at integer not null,
  updated_at integer,
  unique (lease_id, event_type)
) strict, without rowid;
create index lease_events_due on lease_events (due_at) where due_at is not null;

-- What a reservation has of a host or node, in [start_at, free_at): free_at is the end and the time for cleaning.
-- vcpus, memory_mb and disk_gb are those of all slots together. A booking is never changed, only replaced.
create table bookings (
  reservation_id text not null references lease_reservations (id),
  provider_id integer not null references leasables (provider_id),
  lease_id text not null references leases (id),
  slots integer not null check (slots > 0),
  is_whole integer not null check (is_whole in (0, 1)),
  vcpus integer not null check (vcpus >= 0),
  memory_mb integer not null check (memory_mb >= 0),
  disk_gb integer not null check (disk_gb >= 0),
  start_at integer not null,
  end_at integer not null,
  free_at integer not null,
  allocation text unique,
  primary key (reservation_id, provider_id),
  check (start_at <= end_at and end_at <= free_at)
) strict, without rowid;
create index bookings_by_provider on bookings (provider_id, free_at);
create index bookings_by_lease on bookings (lease_id);

-- The last line: whatever our decisions do, at no instant is more booked than there is. The use of a host only grows where
-- a booking starts, so these instants are all that have to be looked at.
create trigger bookings_fit after insert on bookings
begin
  select raise(abort, 'a booking does not fit')
  from leasables h
  where h.provider_id = new.provider_id and exists (
    select 1 from bookings s where s.provider_id = new.provider_id
      and s.free_at > new.start_at and s.start_at < new.free_at
      and (
        select count(*) > 1 and max(b.is_whole) = 1 or sum(b.vcpus) > h.vcpus_ceiling
          or sum(b.memory_mb) > h.memory_mb_ceiling or sum(b.disk_gb) > h.disk_gb_ceiling
        from bookings b where b.provider_id = new.provider_id
          and b.free_at > max(s.start_at, new.start_at) and b.start_at <= max(s.start_at, new.start_at)
      )
  );
end;
create trigger bookings_stay before update of provider_id, slots, is_whole, vcpus, memory_mb, disk_gb, start_at, free_at
on bookings
begin
  select raise(abort, 'a booking is replaced, not changed');
end;

-- How far the clock of tests is ahead of the real one, for all processes.
create table test_clock (
  one integer primary key check (one = 1),
  ahead_ms integer not null
) strict;
insert into test_clock (one, ahead_ms) values (1, 0);
