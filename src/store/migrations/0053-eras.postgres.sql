-- A name for the time of each server as primary. Each promotion begins a new timeline, but its number may come twice: two
-- servers that were promoted from the same one both have the next. What was written under one name is only where the name is.
create table eras (
  -- The system identifier of PostgreSQL: that of another system tells nothing about its copies.
  system text collate "C" not null,
  timeline bigint not null,
  name text collate "C" not null,
  begun_at timestamptz not null default clock_timestamp(),
  primary key (system, timeline)
);
