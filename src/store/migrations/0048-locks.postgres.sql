-- Functions lock as statements do: so that the check of a foreign key doesn't wait for them. A provider that is updated
-- twice in a transaction has its parent checked, which another may have locked that waits for the provider.
do $$
declare
  f oid;
begin
  -- By name: there may be functions of others in the same schema.
  for f in select p.oid from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname = current_schema() and p.proname in ('bookings_fit', 'bookings_extras_fit', 'claim_new', 'release_all')
  loop
    execute replace(pg_get_functiondef(f), 'for update', 'for no key update');
  end loop;
end $$;
