-- Calendars that programs subscribe to by a secret URL. Of the URL's token only a hash is kept.
-- The user, project and roles are those of who made it, and auth is how they were known: each reading asks what they may see now.
create table calendars (
  id text primary key,
  token_hash text not null unique,
  kind text not null check (kind in ('user', 'project', 'node')),
  whose text not null,
  auth text not null,
  user_id text not null,
  project_id text,
  roles text not null,
  created_at integer not null,
  last_read_at integer
) strict, without rowid;
create index calendars_by_project on calendars (project_id);

create index leases_by_user on leases (user_id, end_at);
create index allocations_by_user on allocations (user_id, expires_at);
