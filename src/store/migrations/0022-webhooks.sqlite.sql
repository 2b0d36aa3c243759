-- Who is told of events, and where. project_id is null when it is for all projects. The maker decides what it may be told: its
-- user, project, roles and scope are kept. The cursor is its place in the log: all before it was put into deliveries.
create table webhooks (
  id integer primary key autoincrement,
  uuid text not null unique,
  name text not null,
  url text not null,
  project_id text,
  maker_user text not null,
  maker_project text,
  maker_roles text not null,
  maker_system integer not null check (maker_system in (0, 1)),
  types text not null,
  object text,
  only_project text,
  only_user text,
  secret text,
  old_secret text,
  old_secret_until integer,
  state text not null check (state in ('active', 'paused', 'disabled')),
  reason text,
  state_at integer not null,
  cursor_sequence integer not null,
  cursor_part integer not null,
  missed_at integer,
  created_at integer not null,
  updated_at integer
) strict;
create index webhooks_by_project on webhooks (project_id);

-- The outbox. Of the pending deliveries about one subject only the oldest has a due_at, so they are sent in order. Who sends one moves
-- its due_at to the end of its term: when that process dies, it is due again then. attempts tells its tries apart.
create table deliveries (
  id integer primary key autoincrement,
  webhook_id integer not null references webhooks (id) on delete cascade,
  project_id text not null,
  message text not null,
  type text not null,
  subject text not null,
  body text not null,
  status text not null check (status in ('pending', 'delivered', 'dropped')),
  due_at integer,
  attempts integer not null default 0,
  failures integer not null default 0,
  first_at integer,
  created_at integer not null,
  answered_at integer,
  answer_status integer,
  answer_ms integer,
  answer_text text,
  error text,
  check (due_at is null or status = 'pending'),
  unique (webhook_id, message)
) strict;
create index deliveries_due on deliveries (due_at, id) where due_at is not null;
create index deliveries_pending on deliveries (webhook_id, subject, id) where status = 'pending';
create index deliveries_done on deliveries (webhook_id, id);
