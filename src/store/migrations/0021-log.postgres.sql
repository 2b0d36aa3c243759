-- One log of what was changed, by whom. It was the audit; now it also tells the other processes which providers to read
-- again and whom to wake, and it has an order in which listeners hear of it.
drop trigger audit_entries_stay on audit;
drop trigger audit_entries_are_sealed_first on audit;
drop function audit_refuse();
alter table audit rename to log;
alter index audit_by_time rename to log_by_time;

-- The order of the entries. Ids are given before the commit, and a later one may be there first, so an entry gets its
-- place when it is committed: a row lists the entries of some places in a row. Rows are added and never changed, so that
-- a transaction that stays open elsewhere doesn't make the table slow. cursor: what it sees has its place. newest_id: the
-- highest id that has one.
create table log_order (
  first bigint primary key,
  last bigint not null unique,
  entries bigint[] not null check (cardinality(entries) = last - first + 1),
  newest_id bigint not null,
  cursor pg_snapshot not null
);
with runs as (
  select seal_id, array_agg(id order by id) as entries, max(id) as newest_id from log group by seal_id
), placed as (
  select entries, sum(cardinality(entries)) over sealed as last, max(newest_id) over sealed as newest_id from runs
  window sealed as (order by seal_id nulls last)
)
insert into log_order
  select last - cardinality(entries) + 1, last, entries, newest_id, pg_current_snapshot() from placed;

-- Seals follow that order.
alter table audit_seals add column last bigint;
update audit_seals s set last = p.last from (select id, sum(entries) over (order by id) as last from audit_seals) as p
  where p.id = s.id;
alter table audit_seals alter column last set not null;
alter table audit_chain add column anchor_last bigint not null default 0, add column head_last bigint not null default 0,
  add column newest_id bigint not null default 0;
update audit_chain set head_last = coalesce((select max(last) from audit_seals), 0),
  newest_id = coalesce((select max(id) from log where seal_id is not null), 0);
alter table log drop column seal_id;

-- xid: the transaction, for readers whose cursor is a snapshot. providers, topics: for the copies in memory and the duties
-- of processes other than origin. A transaction that only has these writes a row with the action ''. It is no entry.
alter table log add column xid xid8, add column made_at timestamptz, add column origin text collate "C",
  add column providers bigint[], add column topics text[];
alter table log alter column xid set default pg_current_xact_id(), alter column made_at set default clock_timestamp();
create index log_by_xid on log (xid);
create index log_bare on log (xid) where action = '';

-- Rows that are no entries, for the other processes.
create index log_told on log (xid) where providers is not null or topics is not null;

-- pruned: of what it sees, rows that are no entries may be gone.
create table log_start (
  one boolean primary key default true check (one),
  cursor pg_snapshot not null,
  pruned pg_snapshot
);
insert into log_start (cursor) values (pg_current_snapshot());
create view log_head as
  (select last, newest_id, cursor from log_order order by last desc limit 1)
  union all
  (select 0, 0, cursor from log_start where not exists (select from log_order));
drop table changes;
drop table changes_horizon;

-- Gives all that is committed its place, and tells the listeners. Does nothing while another process does it, and says
-- so: what that one saw may be older than what the caller has committed.
-- Transactions that change the same object are ordered by their ids: the second had to wait for the first.
create function order_log() returns boolean language plpgsql as $$
declare
  head log_head;
  seen pg_snapshot;
  fresh bigint[];
  chunk bigint[];
  newest bigint;
begin
  -- Without a lock first: mostly there is nothing to do.
  select * into head from log_head;
  if pg_snapshot_xmax(head.cursor) <= pg_snapshot_xmax(pg_current_snapshot()) and not exists (
    select from log where action <> ''
      and (xid >= pg_snapshot_xmax(head.cursor) or xid = any(array(select pg_snapshot_xip(head.cursor))))
  ) then return true; end if;
  if not pg_try_advisory_xact_lock(8781) then return false; end if;
  select * into head from log_head;
  -- A row that is there, although its transaction still runs or is yet to come, was restored from another server. Here
  -- its number will be another's, and must not bring it up again.
  if pg_snapshot_xmax(head.cursor) > pg_snapshot_xmax(pg_current_snapshot()) then
    -- Restored into a younger server. The numbers of the old one mean nothing there, so ids decide.
    with restored as (
      update log set xid = null where xid >= pg_snapshot_xmax(pg_current_snapshot())
        or xid = any(array(select pg_snapshot_xip(pg_current_snapshot()))))
    select pg_current_snapshot(), array_agg(id order by id) into seen, fresh from log
      where action <> '' and (id > head.newest_id or not pg_visible_in_snapshot(xid, head.cursor));
    update log_order set cursor = seen where last = head.last;
    update log_start set cursor = seen, pruned = null;
  else
    with restored as (
      update log set xid = null where xid >= pg_snapshot_xmax(pg_current_snapshot())
        or xid = any(array(select pg_snapshot_xip(pg_current_snapshot()))))
    select pg_current_snapshot(), array_agg(id order by id) into seen, fresh from log
      where action <> '' and (xid >= pg_snapshot_xmax(head.cursor) or xid = any(array(select pg_snapshot_xip(head.cursor))));
  end if;
  if fresh is null then return true; end if;
  newest := greatest(head.newest_id, fresh[cardinality(fresh)]);
  for i in 1 .. cardinality(fresh) by 512 loop
    chunk := fresh[i : i + 511];
    insert into log_order values (head.last + i, head.last + i + cardinality(chunk) - 1, chunk, newest, seen);
  end loop;
  perform pg_notify('holdfast_log', 'ordered');
  return true;
end $$;

-- An entry is never changed. One day it is pruned, but not before it is sealed.
create function log_refuse() returns trigger language plpgsql as $$
begin
  raise exception 'an entry of the log can not be changed, nor deleted before it is sealed';
end $$;
create trigger log_entries_stay
  before update of id, at, request_id, user_id, project_id, roles, address, action, objects, outcome on log
  for each row execute function log_refuse();
create function log_is_sealed() returns trigger language plpgsql as $$
begin
  if old.id > (select newest_id from audit_chain) then
    raise exception 'an entry of the log can not be deleted before it is sealed';
  end if;
  return old;
end $$;
create trigger log_entries_are_sealed_first
  before delete on log for each row when (old.action <> '') execute function log_is_sealed();
