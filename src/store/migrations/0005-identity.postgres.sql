-- Tokens are signed with this key, so that all processes on this database know them.
create table signing_keys (
  id bigint primary key check (id = 1),
  secret text collate "C" not null,
  created_at bigint not null
);

-- Tokens that were ended before their time; kept until then.
create table revoked_tokens (
  token_id text collate "C" primary key,
  expires_at bigint not null
);
create index revoked_tokens_by_end on revoked_tokens (expires_at);

-- roles are those that the credential's tokens have at most, as JSON; secret is a hash.
create table application_credentials (
  id text collate "C" primary key,
  user_id text collate "C" not null,
  name text collate "C" not null,
  user_name text collate "C" not null,
  project_name text collate "C" not null,
  description text collate "C" not null,
  secret text collate "C" not null,
  roles text collate "C" not null,
  unrestricted bigint not null check (unrestricted in (0, 1)),
  expires_at bigint,
  created_at bigint not null,
  unique (user_id, name)
);
