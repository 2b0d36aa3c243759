-- Who may read what a line of a node's history names. `project_id`: the user acted for it. `details`: names of others,
-- for the project in `details_of` and for those who see everything.
alter table node_history add column project_id text;
alter table node_history add column details text;
alter table node_history add column details_of text;
