-- The machine that this one is built into.
alter table nodes add column parent_node text collate "C" references nodes (uuid);
create index nodes_parent on nodes (parent_node) where parent_node is not null;
