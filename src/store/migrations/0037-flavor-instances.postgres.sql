-- Instances by an existing flavor are a kind of reservation of their own.
alter table lease_reservations drop constraint lease_reservations_resource_type_check;
alter table lease_reservations add constraint lease_reservations_resource_type_check
  check (resource_type in ('virtual:instance', 'flavor:instance', 'physical:host', 'physical:node'));

-- What a booking takes beside vcpus, memory and disk: JSON with amounts by resource class, those of all slots together.
-- Null for most. extras_ceiling is for these what the other ceilings are, for the classes that are booked.
alter table bookings add column extras text collate "C";
alter table leasables add column extras_ceiling text collate "C";

drop trigger bookings_stay on bookings;
create trigger bookings_stay
before update of provider_id, slots, is_whole, vcpus, memory_mb, disk_gb, extras, start_at, free_at
on bookings for each row execute function bookings_stay();

-- As bookings_fit, for each class of the new booking. Triggers run by name, so bookings_fit locks the host after this one:
-- it is locked here too.
create function bookings_extras_fit() returns trigger language plpgsql as $$
declare h leasables;
begin
  select * into h from leasables where provider_id = new.provider_id for update;
  if exists (
    select 1 from jsonb_object_keys(new.extras::jsonb) c, bookings s
    where s.provider_id = new.provider_id and s.free_at > new.start_at and s.start_at < new.free_at
      and (
        select sum(coalesce((b.extras::jsonb ->> c)::bigint, 0)) > coalesce((h.extras_ceiling::jsonb ->> c)::bigint, 0)
        from bookings b where b.provider_id = new.provider_id
          and b.free_at > greatest(s.start_at, new.start_at) and b.start_at <= greatest(s.start_at, new.start_at)
      )
  ) then
    raise exception 'a booking does not fit';
  end if;
  return null;
end $$;
create trigger bookings_extras_fit after insert on bookings
for each row when (new.extras is not null) execute function bookings_extras_fit();
