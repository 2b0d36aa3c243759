-- One log of what was changed, by whom. It was the audit; now listeners hear of it in its order, too. One process writes,
-- one transaction after another, so the order of the ids is the order of the commits.
drop trigger audit_entries_stay;
drop trigger audit_entries_are_sealed_first;
create table log (
  id integer primary key,
  at integer not null,
  request_id text,
  user_id text not null,
  project_id text,
  roles text not null,
  address text not null,
  action text not null,
  objects text not null,
  outcome text not null check (outcome in ('done', 'accepted', 'failed'))
) strict;
insert into log select id, at, request_id, user_id, project_id, roles, address, action, objects, outcome from audit;

-- Seals follow that order.
alter table audit_seals add column last integer not null default 0;
update audit_seals set last = (select max(id) from audit where seal_id = audit_seals.id);
alter table audit_chain add column anchor_last integer not null default 0;
alter table audit_chain add column head_last integer not null default 0;
alter table audit_chain add column newest_id integer not null default 0;
update audit_chain set head_last = coalesce((select max(last) from audit_seals), 0),
  newest_id = coalesce((select max(last) from audit_seals), 0),
  anchor_last = coalesce((select min(id) - 1 from log), 0);
drop table audit;
create index log_by_time on log (at);

-- As on PostgreSQL, where places are given after the commit.
create view log_order as select id as first, id as last, json_array(id) as entries from log;
create view log_head as select coalesce(max(id), 0) as last from log;

-- An entry is never changed. One day it is pruned, but not before it is sealed.
create trigger log_entries_stay
before update of id, at, request_id, user_id, project_id, roles, address, action, objects, outcome on log
begin
  select raise(abort, 'an entry of the log can not be changed');
end;
create trigger log_entries_are_sealed_first before delete on log when old.id > (select newest_id from audit_chain)
begin
  select raise(abort, 'an entry of the log can not be deleted before it is sealed');
end;
