-- Tells whether a migration is the one that was applied. Null for those before, until the schema is found to be whole.
alter table migrations add column checksum text;
