-- What a project may have at most, by the name of the limit; of the project '' what holds for all that say nothing else. -1 is no limit.
create table quotas (
  project_id text collate "C" not null,
  name text collate "C" not null,
  max bigint not null check (max >= -1),
  primary key (project_id, name)
);

-- What a project has is counted by it. A hold's was known to the ledger only.
alter table reservations add column project_id text collate "C";
update reservations set project_id = (select c.project_id from consumers as c where c.uuid = reservations.uuid);
create index reservations_by_project on reservations (project_id);
create index allocations_by_project on allocations (project_id);
