-- Until when someone works on a row. It is apart from due_at, so that a change during the work makes the row due at once, and
-- whoever works on it still finishes first: two at a time could undo each other's steps.
alter table nova_work add column taken_until integer;
