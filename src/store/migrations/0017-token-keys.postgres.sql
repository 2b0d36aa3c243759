-- Keys that tokens are signed with: one in use, those before it accepted until their last tokens have ended.
create table token_keys (
  id bigint primary key,
  secret text not null,
  created_at bigint not null,
  retired_at bigint
);
insert into token_keys (id, secret, created_at) select id, secret, created_at from signing_keys;

-- Made in mode none, where everyone is who they say: worth nothing in any other.
alter table application_credentials add column is_open bigint not null default 0 check (is_open in (0, 1));
