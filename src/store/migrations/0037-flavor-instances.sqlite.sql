-- Instances by an existing flavor are a kind of reservation of their own. A check can't be changed, so the column is made anew.
alter table lease_reservations add column asked_type text not null default 'virtual:instance'
  check (asked_type in ('virtual:instance', 'flavor:instance', 'physical:host', 'physical:node'));
update lease_reservations set asked_type = resource_type;
alter table lease_reservations drop column resource_type;
alter table lease_reservations rename column asked_type to resource_type;

-- What a booking takes beside vcpus, memory and disk: JSON with amounts by resource class, those of all slots together.
-- Null for most. extras_ceiling is for these what the other ceilings are, for the classes that are booked.
alter table bookings add column extras text;
alter table leasables add column extras_ceiling text;

drop trigger bookings_stay;
create trigger bookings_stay
before update of provider_id, slots, is_whole, vcpus, memory_mb, disk_gb, extras, start_at, free_at on bookings
begin
  select raise(abort, 'a booking is replaced, not changed');
end;

-- As bookings_fit, for each class of the new booking.
create trigger bookings_extras_fit after insert on bookings when new.extras is not null
begin
  select raise(abort, 'a booking does not fit')
  from leasables h, json_each(new.extras) c
  where h.provider_id = new.provider_id and exists (
    select 1 from bookings s where s.provider_id = new.provider_id
      and s.free_at > new.start_at and s.start_at < new.free_at
      and (
        select sum(coalesce(b.extras ->> c.key, 0)) > coalesce(h.extras_ceiling ->> c.key, 0)
        from bookings b where b.provider_id = new.provider_id
          and b.free_at > max(s.start_at, new.start_at) and b.start_at <= max(s.start_at, new.start_at)
      )
  );
end;
