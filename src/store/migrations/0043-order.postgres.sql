-- As before, but with a lock of its own (8781 is that of trees), and it costs the same however many entries there are: by
-- `id + 0` the new ones are sorted. By `id` PostgreSQL would walk the whole log, which is in that order already.
-- Gives all that is committed its place, and tells the listeners. Does nothing while another process does it, and says
-- so: what that one saw may be older than what the caller has committed.
-- Transactions that change the same object are ordered by their ids: the second had to wait for the first.
create or replace function order_log() returns boolean language plpgsql as $$
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
  if not pg_try_advisory_xact_lock(8787) then return false; end if;
  select * into head from log_head;
  -- A row that is there, although its transaction still runs or is yet to come, was restored from another server. Here
  -- its number will be another's, and must not bring it up again.
  if pg_snapshot_xmax(head.cursor) > pg_snapshot_xmax(pg_current_snapshot()) then
    -- Restored into a younger server. The numbers of the old one mean nothing there, so ids decide.
    with restored as (
      update log set xid = null where xid >= pg_snapshot_xmax(pg_current_snapshot())
        or xid = any(array(select pg_snapshot_xip(pg_current_snapshot()))))
    select pg_current_snapshot(), array_agg(id order by id + 0) into seen, fresh from log
      where action <> '' and (id > head.newest_id or not pg_visible_in_snapshot(xid, head.cursor));
    update log_order set cursor = seen where last = head.last;
    update log_start set cursor = seen, pruned = null;
  else
    with restored as (
      update log set xid = null where xid >= pg_snapshot_xmax(pg_current_snapshot())
        or xid = any(array(select pg_snapshot_xip(pg_current_snapshot()))))
    select pg_current_snapshot(), array_agg(id order by id + 0) into seen, fresh from log
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
