-- What changed, for the other processes' copies in memory. xid orders the entries by transaction: a reader's cursor never
-- passes the oldest transaction still running, so an entry that becomes visible late is not skipped.
create table changes (
  xid xid8 not null default pg_current_xact_id(),
  provider_id bigint not null,
  origin text collate "C" not null,
  made_at timestamptz not null default clock_timestamp()
);
create index changes_by_xid on changes (xid);

-- Entries of transactions before this one may be gone; who has read no further than that must start afresh.
create table changes_horizon (
  one boolean primary key default true check (one),
  xid xid8 not null
);
insert into changes_horizon (xid) values ('0');
