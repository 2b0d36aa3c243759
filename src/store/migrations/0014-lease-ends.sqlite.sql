-- Why a lease is still STARTING or TERMINATING.
alter table leases add column status_reason text;

-- Whole hosts have a flavor of the reservation's id too: a server of the size of the smallest of them.
-- Who has helped themselves with one of that name or id meanwhile has it renamed, or made the reservation's.
update flavors set name = name || ' of ' || id where exists (select 1 from lease_reservations r
  where r.resource_type = 'physical:host' and r.status <> 'deleted'
    and flavors.name = 'reservation:' || r.id and flavors.id <> r.id);
delete from flavor_access where flavor_id in (select id from lease_reservations
  where resource_type = 'physical:host' and status = 'active');
insert into flavors (id, name, vcpus, ram_mb, disk_gb, ephemeral_gb, swap_mb, rxtx_factor, is_public, disabled,
  extra_specs, managed_by, created_at)
select r.id, 'reservation:' || r.id,
  max(coalesce(min(case c.name when 'VCPU' then i.total - i.reserved end), 1), 1),
  max(coalesce(min(case c.name when 'MEMORY_MB' then i.total - i.reserved end), 1), 1),
  max(coalesce(min(case c.name when 'DISK_GB' then i.total - i.reserved end), 0), 0),
  0, 0, 1, 0, 0,
  '{"resources:CUSTOM_RESERVATION_' || upper(replace(r.id, '-', '_')) || '":"1"}', 'leases', r.created_at
from lease_reservations r
left join bookings b on b.reservation_id = r.id
left join inventories i on i.provider_id = b.provider_id
left join resource_classes c on c.id = i.class_id
where r.resource_type = 'physical:host' and r.status = 'active'
group by r.id, r.created_at
on conflict (id) do update set name = excluded.name, vcpus = excluded.vcpus, ram_mb = excluded.ram_mb,
  disk_gb = excluded.disk_gb, ephemeral_gb = 0, swap_mb = 0, is_public = 0, disabled = 0,
  extra_specs = excluded.extra_specs, managed_by = excluded.managed_by;
insert into flavor_access (flavor_id, project_id)
select r.id, l.project_id from lease_reservations r join leases l on l.id = r.lease_id
where r.resource_type = 'physical:host' and r.status = 'active' and l.status = 'ACTIVE';

-- What is being given back is nobody's to take.
update inventories set blocked = 1 where class_id in (
  select c.id from resource_classes c
  join lease_reservations r on r.id = lower(replace(substr(c.name, 20), '_', '-'))
  join leases l on l.id = r.lease_id
  where c.managed_by = 'leases' and l.status = 'TERMINATING');
