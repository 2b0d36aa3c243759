-- Claims of new consumers, and releases, in one call each: the caller decides on its copy in memory, and the call checks
-- all that the decision rests on against the locked rows. Whatever has changed since raises HF001 and undoes the call, and
-- then the caller decides again on the rows themselves.

-- The locks and the guards prove what these keys proved, at a third of the cost of a claim: a claim is written with its
-- consumer locked or new, its provider locked, and the use of its inventory changed. What remains is that nobody removes
-- an inventory or a consumer that claims are of.
alter table claims drop constraint claims_consumer_id_fkey, drop constraint claims_provider_id_class_id_fkey;
create function is_claimed() returns trigger language plpgsql as $$
begin
  raise exception 'there are claims on what is removed from %', tg_table_name using errcode = 'foreign_key_violation';
end $$;
create trigger inventories_in_use_stay before delete on inventories
  for each row when (old.used > 0) execute function is_claimed();
create function consumer_is_free() returns trigger language plpgsql as $$
begin
  if exists (select from claims where consumer_id = old.id) then
    raise exception 'there are claims of what is removed from consumers' using errcode = 'foreign_key_violation';
  end if;
  return old;
end $$;
create trigger consumers_with_claims_stay before delete on consumers
  for each row execute function consumer_is_free();

-- Begins a call: says the transaction's number, by which another connection can ask for the outcome if the answer is lost.
create function begin_call(lock_wait_ms bigint) returns void language plpgsql as $$
begin
  raise notice '%', pg_current_xact_id();
  perform set_config('lock_timeout', lock_wait_ms::text, true);
end $$;

-- Adds entries to the log, one a line of objects (JSON has no line breaks). The first row also tells the other processes
-- which providers to read.
create function append_log(ats bigint[], request_ids text[], users text[], projects text[], role_lists text[],
  addresses text[], actions text[], objects text, outcomes text[], origin text, providers bigint[])
returns void language plpgsql as $$
begin
  insert into log (at, request_id, user_id, project_id, roles, address, action, objects, outcome, origin, providers)
  select r.at, r.request_id, r.user_id, r.project_id, r.roles, r.address, r.action, r.objects, r.outcome,
    case when r.place = 1 then append_log.origin end, case when r.place = 1 then append_log.providers end
  from unnest(ats, request_ids, users, projects, role_lists, addresses, actions,
      string_to_array(append_log.objects, E'\n'), outcomes) with ordinality
    as r (at, request_id, user_id, project_id, roles, address, action, objects, outcome, place);
end $$;

-- Claims for consumers that don't exist yet. Locks providers by id, and adds the consumers in order of uuid after that,
-- as every transaction does. Returns the new revisions, in the order of the providers.
--   lock_wait_ms … origin: for begin_call and append_log.
--   consumers, projects, users, types: the new consumers, by uuid.
--   providers, bumps: those involved, by id, and by how much their generations grow.
--   class_names: what the numbers of classes below mean, from 1.
--   used_of, used_class, adds, smallest, largest, divisor: by how much each inventory's use grows, the smallest and largest
--     amount of one claim, and what divides all of them.
--   claim_by (a place in consumers), claim_of, claim_class, amounts: the claims.
create function claim_new(lock_wait_ms bigint, ats bigint[], request_ids text[], log_users text[], log_projects text[],
  role_lists text[], addresses text[], actions text[], objects text, outcomes text[], origin text,
  now_ms bigint, consumers text[], projects text[], users text[], types text[],
  providers bigint[], bumps bigint[], class_names text[],
  used_of bigint[], used_class int[], adds bigint[], smallest bigint[], largest bigint[], divisor bigint[],
  claim_by int[], claim_of bigint[], claim_class int[], amounts bigint[]) returns bigint[] language plpgsql as $$
declare
  classes bigint[];
  ids bigint[];
  revisions bigint[];
  touched bigint;
begin
  perform begin_call(lock_wait_ms);
  classes := array(select c.id from unnest(class_names) with ordinality as n (name, place)
    join resource_classes c on c.name = n.name order by n.place);
  perform from providers as p where p.id = any(claim_new.providers) order by p.id for update;
  with bumped as (
    update providers as p set generation = p.generation + n.bumps, revision = p.revision + 1, updated_at = now_ms
    from unnest(claim_new.providers, claim_new.bumps) as n (id, bumps)
    where p.id = n.id and p.dedicated_to is null
    returning p.id, p.revision
  ) select array_agg(b.revision order by b.id) into revisions from bumped as b;
  update inventories as i set used = i.used + n.adds
    from unnest(used_of, used_class, claim_new.adds, claim_new.smallest, claim_new.largest, claim_new.divisor)
      as n (of, class, adds, smallest, largest, divisor)
    where i.provider_id = n.of and i.class_id = classes[n.class] and i.blocked = 0 and i.used + n.adds <= i.capacity
      and n.smallest >= i.min_unit and n.largest <= i.max_unit and n.divisor % i.step_size = 0;
  get diagnostics touched = row_count;
  if touched <> cardinality(used_of) or cardinality(classes) <> cardinality(class_names)
      or cardinality(revisions) is distinct from cardinality(providers) then
    raise exception 'memory was stale' using errcode = 'HF001';
  end if;
  ids := array(select nextval('consumers_id_seq') from generate_series(1, cardinality(claim_new.consumers)));
  insert into consumers (id, uuid, project_id, user_id, type, generation, created_at)
    select n.id, n.uuid, n.project_id, n.user_id, n.type, 1, now_ms
    from unnest(ids, claim_new.consumers, projects, users, types) as n (id, uuid, project_id, user_id, type);
  insert into claims (consumer_id, provider_id, class_id, used, created_at)
    select ids[n.by], n.of, classes[n.class], n.amount, now_ms
    from unnest(claim_by, claim_of, claim_class, amounts) as n (by, of, class, amount);
  perform append_log(ats, request_ids, log_users, log_projects, role_lists, addresses, actions, objects, outcomes, origin,
    claim_new.providers);
  return revisions;
end $$;

-- Releases all that these consumers have, if they are Placement's own and have no end. Locks consumers before providers,
-- each by id, as every transaction does. Who waits for a closed inventory must be woken, so those go the other way.
-- Returns the providers with their new revisions, and what was released of which class of which of them.
create function release_all(lock_wait_ms bigint, ats bigint[], request_ids text[], log_users text[], log_projects text[],
  role_lists text[], addresses text[], actions text[], objects text, outcomes text[], origin text,
  consumers text[], out providers bigint[], out revisions bigint[], out of bigint[], out class_names text[],
  out amounts bigint[]) language plpgsql as $$
declare
  ids bigint[];
  claimed bigint;
  touched bigint;
  is_closed boolean;
begin
  perform begin_call(lock_wait_ms);
  ids := array(select k.id from consumers as k where k.uuid = any(release_all.consumers)
    and k.managed_by is null and k.expires_at is null order by k.id for update);
  perform from providers as p where p.id = any(array(select c.provider_id from claims as c where c.consumer_id = any(ids)))
    order by p.id for update;
  with gone as (
    delete from claims as c where c.consumer_id = any(ids) returning c.provider_id, c.class_id, c.used
  ) select array_agg(g.provider_id), array_agg(g.class_id), array_agg(g.used) into of, revisions, amounts from (
    select provider_id, class_id, sum(used)::bigint as used from gone group by provider_id, class_id
  ) as g;
  with changed as (
    update inventories as i set used = i.used - n.used from unnest(of, revisions, amounts) as n (of, class, used)
    where i.provider_id = n.of and i.class_id = n.class returning i.blocked
  ) select count(*), bool_or(blocked = 1) into touched, is_closed from changed;
  if cardinality(ids) <> cardinality(consumers) or touched is distinct from cardinality(of) or is_closed then
    raise exception 'not plain consumers with claims' using errcode = 'HF001';
  end if;
  class_names := array(select r.name from unnest(revisions) with ordinality as n (class, place)
    join resource_classes as r on r.id = n.class order by n.place);
  with revised as (
    update providers as p set revision = p.revision + 1
    where p.id = any(of) returning p.id, p.revision
  ) select array_agg(r.id), array_agg(r.revision) into providers, revisions from revised as r;
  delete from consumers as k where k.id = any(ids);
  perform append_log(ats, request_ids, log_users, log_projects, role_lists, addresses, actions, objects, outcomes, origin,
    release_all.providers);
end $$;
