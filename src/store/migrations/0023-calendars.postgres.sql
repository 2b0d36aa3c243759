-- Calendars that programs subscribe to by a secret URL. Of the URL's token only a hash is kept.
-- The user, project and roles are those of who made it, and auth is how they were known: each reading asks what they may see now.
create table calendars (
  id text collate "C" primary key,
  token_hash text collate "C" not null unique,
  kind text collate "C" not null check (kind in ('user', 'project', 'node')),
  whose text collate "C" not null,
  auth text collate "C" not null,
  user_id text collate "C" not null,
  project_id text collate "C",
  roles text collate "C" not null,
  created_at bigint not null,
  last_read_at bigint
);
create index calendars_by_project on calendars (project_id);

create index leases_by_user on leases (user_id, end_at);
create index allocations_by_user on allocations (user_id, expires_at);
