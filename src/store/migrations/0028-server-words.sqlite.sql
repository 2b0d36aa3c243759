-- What people say of a server: a description, and tags (a JSON array, sorted). launch_index: its place among those of
-- the same request. network: the name of the network that it asked for; there are none, so it has no address there.
alter table servers add column description text;
alter table servers add column tags text not null default '[]';
alter table servers add column launch_index integer not null default 0;
alter table servers add column network text;
