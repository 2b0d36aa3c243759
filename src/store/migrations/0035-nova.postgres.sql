-- What a Nova still has to be told: one row for each reservation that has, or should have, something there. What it should have is
-- in flavors, flavor_access, inventories and claims; who works on a row compares and does the difference. version grows with each
-- change here, so that work for an older wish doesn't count as done. due_at is null when Nova has what it should have. Who works on
-- a row moves its due_at to the end of its term. The row outlives the lease until nothing of it is left in Nova.
create table nova_work (
  reservation_id text collate "C" primary key,
  lease_id text collate "C" not null,
  version bigint not null default 1,
  due_at bigint,
  attempts bigint not null default 0,
  failures bigint not null default 0,
  error text collate "C",
  created_at bigint not null,
  updated_at bigint not null
);
create index nova_work_due on nova_work (due_at) where due_at is not null;
create index nova_work_by_lease on nova_work (lease_id);
