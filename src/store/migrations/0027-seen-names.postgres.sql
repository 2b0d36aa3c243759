-- The names of users and projects that aren't ours, as their tokens said them last, and who was seen in which project.
create table seen_names (
  kind text collate "C" not null check (kind in ('user', 'project')),
  id text collate "C" not null,
  name text collate "C" not null,
  seen_at bigint not null,
  primary key (kind, id)
);
create index seen_names_age on seen_names (seen_at);
create table seen_members (
  project_id text collate "C" not null,
  user_id text collate "C" not null,
  seen_at bigint not null,
  primary key (project_id, user_id)
);
create index seen_members_age on seen_members (seen_at);
