// The invariants of the ledger, each as a query that counts what breaks it. All must count zero, always.
import { sql } from 'kysely'
import { query } from '../store/statement.ts'
import { one, type Read } from '../store/transaction.ts'

export interface Finding {
  invariant: string
  violations: number
}

/** A query that finds one row for each violation, made one that counts them. */
export const count = (violations: string) =>
  query(db =>
    db.selectFrom(sql<object>`(${sql.raw(violations)})`.as('v')).select(e => e.fn.countAll<number>().as('count')),
  )

export type Invariants = Record<string, ReturnType<typeof count>>

export const ledgerInvariants: Invariants = {
  'an inventory’s use is the sum of its claims': count(`
    select 1 from inventories i where i.used <> coalesce(
      (select sum(c.used) from claims c where c.provider_id = i.provider_id and c.class_id = i.class_id), 0)`),
  'an inventory’s use is not above its ceiling': count(`
    select 1 from inventories where used > ceiling or used < 0`),
  'a ceiling is not below the capacity': count(`
    select 1 from inventories where ceiling < capacity`),
  'a claim is of an inventory and a consumer that exist': count(`
    select 1 from claims c
    left join inventories i on i.provider_id = c.provider_id and i.class_id = c.class_id
    left join consumers k on k.id = c.consumer_id
    where i.provider_id is null or k.id is null`),
  'a consumer has claims': count(`
    select 1 from consumers k where not exists (select 1 from claims c where c.consumer_id = k.id)`),
  'a consumer’s generation is above zero': count(`
    select 1 from consumers where generation < 1`),
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

export function* checkInvariants(invariants: Invariants): Read<Finding[]> {
  const findings: Finding[] = []
  for (const [invariant, violations] of Object.entries(invariants)) {
    findings.push({ invariant, violations: (yield* one(violations({})))!.count })
  }
  return findings
}
