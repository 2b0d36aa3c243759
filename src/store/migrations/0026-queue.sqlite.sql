-- started_at: since when an allocation has its node. Of those that have one already only the time of asking is known.
-- retried_at: since when it looks for a node again; who tries again takes its turn as one who comes then.
alter table allocations add column started_at integer;
alter table allocations add column retried_at integer;
update allocations set started_at = created_at where node_id is not null;

-- What admins have set for projects that wait for nodes. Projects without a row have priority 0 and share 1.
create table project_priorities (
  project_id text not null primary key,
  priority integer not null check (priority between -10 and 10),
  share integer not null check (share between 1 and 1000)
) strict;

-- That a project had a node from one time to another. A row is added when the allocation ends, and taken away when it is
-- counted in project_usages.
create table node_uses (
  id integer primary key autoincrement,
  project_id text not null,
  from_at integer not null,
  until_at integer not null check (until_at > from_at)
) strict;

-- The node-milliseconds that projects used lately, as of counted_at; older ones count less. ended: of allocations that have
-- ended; used: of the others too. served_at: when the project last got a node.
create table project_usages (
  project_id text not null primary key,
  ended integer not null check (ended >= 0),
  used integer not null check (used >= ended),
  served_at integer not null,
  counted_at integer not null
) strict;
