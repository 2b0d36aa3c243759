-- Who gave a provider its trait: Placement's clients, or the part of Holdfast that owns the provider. Both may have given the same.
alter table provider_traits add column origin text collate "C" not null default 'placement';
update provider_traits set origin = 'baremetal'
  where provider_id in (select id from providers where managed_by = 'baremetal');
alter table provider_traits drop constraint provider_traits_pkey;
alter table provider_traits add primary key (provider_id, trait_id, origin);
-- Made anew after the key: of two indexes that look equally good while the table is empty, PostgreSQL takes the newer.
drop index provider_traits_by_trait;
create index provider_traits_by_trait on provider_traits (trait_id);
