-- Seals make a chain: each is a hash over the one before and the entries that it covers.
create table audit_seals (
  id integer primary key,
  entries integer not null,
  seal text not null,
  sealed_at integer not null
) strict;

-- The two ends of the chain: where it begins since older entries were pruned, and the newest seal.
create table audit_chain (
  one integer primary key default 1 check (one = 1),
  anchor_id integer not null,
  anchor_seal text not null,
  head_id integer not null,
  head_seal text not null
) strict;
insert into audit_chain (anchor_id, anchor_seal, head_id, head_seal) values (0, '', 0, '');

-- Who changed what, written in the transaction of the change itself.
create table audit (
  id integer primary key,
  at integer not null,
  request_id text,
  user_id text not null,
  project_id text,
  roles text not null,
  address text not null,
  action text not null,
  objects text not null,
  outcome text not null check (outcome in ('done', 'accepted', 'failed')),
  seal_id integer references audit_seals (id)
) strict;
create index audit_by_time on audit (at);
create index audit_by_seal on audit (seal_id);

-- An entry is never changed: it gets its seal, and one day it is pruned with it.
create trigger audit_entries_stay
before update of id, at, request_id, user_id, project_id, roles, address, action, objects, outcome on audit
begin
  select raise(abort, 'an entry of the audit can not be changed');
end;
create trigger audit_entries_are_sealed_first before delete on audit when old.seal_id is null
begin
  select raise(abort, 'an entry of the audit can not be deleted before it is sealed');
end;

-- So that what a conductor does about an allocation names the request that asked for it.
alter table allocations add column request_id text;
