-- What people write about an allocation, for others to read. A node has its description for that.
alter table allocations add column note text;
