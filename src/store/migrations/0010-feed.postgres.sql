-- A reader's cursor is the snapshot of its last read. What was visible to this one may be gone; whose cursor is older must
-- start afresh.
alter table changes_horizon add column pruned pg_snapshot;
