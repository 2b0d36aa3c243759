-- The project whose lease has the node, and who was its lessee before: that comes back when the lease is over.
-- leftover: someone let go of it with a machine on it, which is torn down as soon as that may be.
alter table nodes add column leased_to text collate "C";
alter table nodes add column lessee_before text collate "C";
alter table nodes add column leftover bigint not null default 0 check (leftover in (0, 1));
create index nodes_leftover on nodes (id) where leftover = 1;

-- What runs already gets what it was promised.
update nodes set leased_to = given.project_id, lessee_before = lessee, lessee = given.project_id, revision = revision + 1
from (
  select b.provider_id, b.allocation, l.project_id from bookings b join leases l on l.id = b.lease_id
  where b.allocation is not null and l.status in ('STARTING', 'ACTIVE')
) as given
where given.provider_id = nodes.provider_id and given.allocation = nodes.instance_uuid;
