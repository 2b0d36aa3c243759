// How much is in use: of a provider, or by a project and its users.
import { sql } from 'kysely'
import { inRow, query } from '../store/statement.ts'
import { all, type Read, together } from '../store/transaction.ts'
import { providerInventories } from './inventories.ts'
import { className } from './resource-classes.ts'

/** The use of every class that the provider has, also where it is zero. */
export function* providerUsages(uuid: string): Read<{ generation: number; usages: Map<string, number> }> {
  const { provider, inventories } = yield* providerInventories(uuid)
  return { generation: provider.generation, usages: new Map(inventories.map(i => [i.resource_class, i.used])) }
}

interface Whose {
  project: string
  /** null for all users of the project. */
  user: string | null
}

const usesByType = query((db, a: Whose, on) => {
  const theirs = db
    .selectFrom('consumers as c')
    .select('c.id')
    .where('c.project_id', '=', a.project)
    .where(sql<boolean>`(cast(${a.user} as text) is null or c.user_id = ${a.user})`)
  const claims = db
    .selectFrom('claims')
    .select(['used', className('class_id').as('resource_class')])
    .select(inRow<string | null>('consumers', 'type', 'consumer_id').as('type'))
    .where(on.isAmong('consumer_id', theirs))
  return db
    .selectFrom(claims.as('l'))
    .select(['l.type', 'l.resource_class'])
    .select(e => sql<number>`cast(${e.fn.sum('l.used')} as bigint)`.as('used'))
    .groupBy(['l.type', 'l.resource_class'])
    .orderBy('l.resource_class')
})
const consumersByType = query((db, a: Whose) =>
  db
    .selectFrom('consumers as c')
    .select(['c.type'])
    .select(e => e.fn.countAll<number>().as('count'))
    .where('c.project_id', '=', a.project)
    .where(sql<boolean>`(cast(${a.user} as text) is null or c.user_id = ${a.user})`)
    .groupBy('c.type'),
)

/** What a project uses, by resource class. */
export function* projectUsages(whose: Whose): Read<Map<string, number>> {
  const usages = new Map<string, number>()
  for (const { resource_class, used } of yield* all(usesByType(whose))) {
    usages.set(resource_class, (usages.get(resource_class) ?? 0) + used)
  }
  return usages
}

export interface TypeUsages {
  consumers: number
  usages: Map<string, number>
}

/** What a project uses, by consumer type; consumers without a type are under null. */
export function* projectUsagesByType(whose: Whose): Read<Map<string | null, TypeUsages>> {
  const [uses, counts] = yield* together(usesByType(whose), consumersByType(whose))
  const types = new Map<string | null, TypeUsages>()
  for (const { type, count } of counts) types.set(type, { consumers: count, usages: new Map() })
  for (const { type, resource_class, used } of uses) types.get(type)!.usages.set(resource_class, used)
  return types
}
