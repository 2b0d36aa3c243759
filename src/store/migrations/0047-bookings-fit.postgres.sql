-- The same last line as before, with the host's bookings read once. Whatever is booked at an instant of the new booking
-- meets it, so only those that meet it are compared with each other.
create or replace function bookings_fit() returns trigger language plpgsql as $$
declare h leasables;
begin
  select * into h from leasables where provider_id = new.provider_id for update;
  if exists (
    with met as materialized (
      select start_at, free_at, is_whole, vcpus, memory_mb, disk_gb from bookings
      where provider_id = new.provider_id and free_at > new.start_at and start_at < new.free_at
    )
    select 1 from met s where (
      select count(*) > 1 and max(b.is_whole) = 1 or sum(b.vcpus) > h.vcpus_ceiling
        or sum(b.memory_mb) > h.memory_mb_ceiling or sum(b.disk_gb) > h.disk_gb_ceiling
      from met b
      where b.free_at > greatest(s.start_at, new.start_at) and b.start_at <= greatest(s.start_at, new.start_at)
    )
  ) then
    raise exception 'a booking does not fit';
  end if;
  return null;
end $$;
