-- Functions lock as statements do: so that the check of a foreign key doesn't wait for them. A provider that is updated
-- twice in a transaction has its parent checked, which another may have locked that waits for the provider.
do $$
declare
  f oid;
begin
  for f in select oid from pg_proc where pronamespace = current_schema()::regnamespace and prosrc like '%for update%' loop
    execute replace(pg_get_functiondef(f), 'for update', 'for no key update');
  end loop;
end $$;
