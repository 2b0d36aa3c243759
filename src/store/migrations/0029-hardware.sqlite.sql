-- What became of a node, for people: kept by number and age, longer than the log.
create table node_history (
  id integer primary key autoincrement,
  uuid text not null unique,
  node_id integer not null references nodes (id) on delete cascade,
  at integer not null,
  severity text not null check (severity in ('info', 'error')),
  type text not null,
  event text not null,
  output text,
  user_id text,
  conductor text
) strict;
create index node_history_by_node on node_history (node_id, id);
create index node_history_by_time on node_history (at);

-- Large facts about a node, which its row doesn't carry.
create table node_documents (
  node_id integer not null references nodes (id) on delete cascade,
  kind text not null,
  document text not null,
  updated_at integer not null,
  primary key (node_id, kind)
) strict;

-- Questions to machines. A conductor with the node's driver answers; whoever asked waits until expires_at.
create table calls (
  id integer primary key autoincrement,
  node_id integer not null references nodes (id) on delete cascade,
  question text not null,
  args text not null,
  expires_at integer not null,
  incarnation text,
  answered_at integer,
  answer text,
  failure text
) strict;
create index calls_open on calls (id) where answered_at is null;
create index calls_by_node on calls (node_id);
create index calls_by_expiry on calls (expires_at);
