-- What people write about an allocation, for others to read. A node has its description for that.
alter table allocations add column note text collate "C";

-- Since when the holder knows of the end: it was set, they got the node, or they were reminded.
alter table allocations add column end_known_at bigint;
update allocations set end_known_at = coalesce(updated_at, created_at);
