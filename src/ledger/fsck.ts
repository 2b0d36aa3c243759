// The ledger's invariants. Each is a query that counts the rows that break it, so every count must be zero.
import { capitals, count, danglings, type Invariants } from '../store/fsck.ts'

export const ledgerInvariants: Invariants = {
  'an inventory’s use is the sum of its claims': count(`
    select 1 from inventories i where i.used <> coalesce(
      (select sum(c.used) from claims c where c.provider_id = i.provider_id and c.class_id = i.class_id), 0)`),
  'an inventory’s use is not above its ceiling': count(`
    select 1 from inventories where used > ceiling or used < 0`),
  'a ceiling is not below the capacity': count(`
    select 1 from inventories where ceiling < capacity`),
  'an inventory’s capacity is what its total, reserved and ratio make of it': count(`
    select 1 from inventories where capacity <> floor((total - reserved) * allocation_ratio)
      and not (capacity = ${Number.MAX_SAFE_INTEGER} and (total - reserved) * allocation_ratio >= capacity)`),
  'an inventory can be handed out in whole steps from its least unit to its largest': count(`
    select 1 from inventories where step_size < 1 or min_unit < 1 or min_unit > max_unit`),
  'an inventory has something, and reserves no less than nothing': count(`
    select 1 from inventories where total < 1 or reserved < 0`),
  'an inventory is blocked or it is not': count(`
    select 1 from inventories where blocked not in (0, 1)`),
  'inventories, traits and aggregates are of providers, classes and traits that exist': danglings(
    ['inventories.provider_id', 'providers.id'],
    ['inventories.class_id', 'resource_classes.id'],
    ['provider_traits.provider_id', 'providers.id'],
    ['provider_traits.trait_id', 'traits.id'],
    ['provider_aggregates.provider_id', 'providers.id'],
  ),
  'a trait is from Placement’s clients or from the owner of its provider': count(`
    select 1 from provider_traits t join providers p on p.id = t.provider_id
    where t.origin <> 'placement' and (p.managed_by is null or t.origin <> p.managed_by)`),
  'a claim is of an inventory and a consumer that exist': count(`
    select 1 from claims c
    left join inventories i on i.provider_id = c.provider_id and i.class_id = c.class_id
    left join consumers k on k.id = c.consumer_id
    where i.provider_id is null or k.id is null`),
  'whoever manages a provider, a class or a consumer is a part of Holdfast': count(`
    select 1 from providers where managed_by not in ('baremetal', 'leases') or dedicated_to <> 'leases'
    union all select 1 from resource_classes where managed_by <> 'leases'
    union all select 1 from consumers where managed_by not in ('baremetal', 'compute')`),
  'a consumer has claims': count(`
    select 1 from consumers k where not exists (select 1 from claims c where c.consumer_id = k.id)`),
  'a consumer’s generation is above zero': count(`
    select 1 from consumers where generation < 1`),
  'a claim is of something': count(`
    select 1 from claims where used < 1`),
  'a provider’s generation and revision are not below zero': count(`
    select 1 from providers where generation < 0 or revision < 0`),
  'providers and consumers have uuids in small letters': capitals('providers.uuid', 'consumers.uuid'),
  'a provider has the root of its parent, or is its own': count(`
    select 1 from providers p left join providers parent on parent.id = p.parent_id
    where p.root_id is null
       or (p.parent_id is null and p.root_id <> p.id)
       or (p.parent_id is not null and p.root_id <> parent.root_id)`),
  'a provider’s ancestors end at its root': count(`
    select id from providers except select id from (
      with recursive reached (id) as (
        select id from providers where parent_id is null
        union select c.id from providers c join reached r on c.parent_id = r.id
      ) select id from reached) as reached`),
}
