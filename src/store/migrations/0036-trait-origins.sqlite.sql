-- Who gave a provider its trait: Placement's clients, or the part of Holdfast that owns the provider. Both may have given the same.
create table traits_with_origin (
  provider_id integer not null references providers (id) on delete cascade,
  trait_id integer not null references traits (id),
  origin text not null default 'placement',
  primary key (provider_id, trait_id, origin)
) strict, without rowid;
insert into traits_with_origin
  select t.provider_id, t.trait_id, case when p.managed_by = 'baremetal' then 'baremetal' else 'placement' end
  from provider_traits t join providers p on p.id = t.provider_id;
drop table provider_traits;
alter table traits_with_origin rename to provider_traits;
create index provider_traits_by_trait on provider_traits (trait_id);
