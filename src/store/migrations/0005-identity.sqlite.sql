-- Tokens are signed with this key, so that all processes on this database know them.
create table signing_keys (
  id integer primary key check (id = 1),
  secret text not null,
  created_at integer not null
) strict;

-- Tokens that were ended before their time; kept until then.
create table revoked_tokens (
  token_id text primary key,
  expires_at integer not null
) strict;
create index revoked_tokens_by_end on revoked_tokens (expires_at);

-- roles are those that the credential's tokens have at most, as JSON; secret is a hash.
create table application_credentials (
  id text primary key,
  user_id text not null,
  name text not null,
  user_name text not null,
  project_name text not null,
  description text not null,
  secret text not null,
  roles text not null,
  unrestricted integer not null check (unrestricted in (0, 1)),
  expires_at integer,
  created_at integer not null,
  unique (user_id, name)
) strict;
