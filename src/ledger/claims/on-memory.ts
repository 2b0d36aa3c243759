// On SQLite plain requests are decided on the copy in memory, and written without reading their rows back. A provider
// that changed since has another revision, and a consumer that isn't new breaks its key: then the whole batch is undone,
// and decided again on the rows.
import { sql } from 'kysely'
import type { ConsumerId, ProviderId, ResourceClassId } from '../../store/schema/ids.ts'
import { bulk, query } from '../../store/statement.ts'
import { note, runAll, together, type Write } from '../../store/transaction.ts'
import type { Mirror } from '../mirror.ts'
import { decideBatch, type Decided } from './batch.ts'
import { type ClaimRequest, subjectsOf } from './claim.ts'
import { Plan } from './plan.ts'

/** Memory lacked a change of one of these providers. */
export class MemoryStale extends Error {
  readonly providers: readonly ProviderId[]
  constructor(providers: readonly ProviderId[]) {
    super('memory was stale')
    this.providers = providers
  }
}

/** Decides plain requests on memory, and all others on the rows, in one transaction. Throws when memory was stale. */
export function* decideOnMemory(requests: readonly ClaimRequest[], mirror: Mirror, now: number): Write<Decided[]> {
  const plan = new Plan(mirror.table)
  const others: ClaimRequest[] = []
  const isPlain = requests.map(request => plan.add(request) || (others.push(request), false))
  if (others.length < requests.length) yield* writeClaims(plan, mirror, now)
  const decided = others.length > 0 ? (yield* decideBatch(others, now)).values() : null
  return requests.map((request, i) =>
    isPlain[i] ? { verdict: null, subjects: subjectsOf(request) } : decided!.next().value!,
  )
}

function* writeClaims(plan: Plan, mirror: Mirror, now: number): Write<void> {
  const { providers, growths, consumers } = plan
  const names = [...new Set(growths.map(growth => growth.resourceClass))]
  const [found, [newest]] = yield* together(classIds({ names }), newestConsumer({}))
  const classes = new Map(found.map(({ id, name }) => [name, id]))
  if (classes.size < names.length) throw new MemoryStale(providers)
  const bumps = providers.map(id => ({ id, revision: mirror.revisionOf(id) ?? -1, bumps: plan.bumpsOf(id), now }))
  const uses = growths.map(({ of, resourceClass, ...growth }) => ({
    provider_id: of,
    class_id: classes.get(resourceClass)!,
    ...growth,
  }))
  const [bumped, grown] = yield* runAll([bumpKnown({ rows: bumps }), growUse({ rows: uses })])
  if (bumped !== bumps.length || grown !== uses.length) throw new MemoryStale(providers)
  const rows = consumers.map(({ who }, i) => ({
    id: ((newest?.id ?? 0) + i + 1) as ConsumerId,
    uuid: who.consumer,
    project_id: who.projectId,
    user_id: who.userId,
    type: who.type ?? null,
    now,
  }))
  const claims = consumers.flatMap(({ has }, i) =>
    has.map(({ growth, amount }) => ({
      consumer_id: rows[i]!.id,
      provider_id: growth.of,
      class_id: classes.get(growth.resourceClass)!,
      used: amount,
      now,
    })),
  )
  yield* runAll([addConsumers({ rows }), addClaims({ rows: claims })])
  yield* note(plan.changes(bumps.map(({ revision }) => revision + 1)))
}

const classIds = query((db, a: { names: readonly string[] }, on) =>
  db.selectFrom('resource_classes').select(['id', 'name']).where(on.isIn('name', a.names)),
)
// Ids are given here, because to find them again by uuid costs as much as to add a claim. There is one writer.
const newestConsumer = query((db, _: object) =>
  db
    .selectFrom('consumers')
    .select('id')
    .where('id', '>', sql<ConsumerId>`0`)
    .orderBy('id', 'desc')
    .limit(1),
)

interface KnownRow {
  id: ProviderId
  /** As memory knows it: it grows with every change of the provider and of its inventories. */
  revision: number
  bumps: number
  now: number
}
const bumpKnown = bulk<KnownRow>({ id: 'bigint', revision: 'bigint', bumps: 'bigint', now: 'bigint' }, (db, r, on) =>
  on
    .update(db.updateTable('providers'), 'providers.id', r.id)
    .set(e => ({
      generation: e('providers.generation', '+', r.bumps),
      revision: e('providers.revision', '+', 1),
      updated_at: r.now,
    }))
    .where('providers.revision', '=', r.revision)
    .where('providers.dedicated_to', 'is', null),
)

interface GrowthRow {
  provider_id: ProviderId
  class_id: ResourceClassId
  adds: number
  least: number
  most: number
  divisor: number
}
// The same was decided on memory. This guard keeps a bug in it out of the database.
const growUse = bulk<GrowthRow>(
  { provider_id: 'bigint', class_id: 'bigint', adds: 'bigint', least: 'bigint', most: 'bigint', divisor: 'bigint' },
  (db, r, on) =>
    on
      .update(db.updateTable('inventories'), 'inventories.provider_id', r.provider_id)
      .set(e => ({ used: e('inventories.used', '+', r.adds) }))
      .where('inventories.class_id', '=', r.class_id)
      .where('inventories.blocked', '=', 0)
      .where(e => e(e('inventories.used', '+', r.adds), '<=', e.ref('inventories.capacity')))
      .where('inventories.min_unit', '<=', r.least)
      .where('inventories.max_unit', '>=', r.most)
      .where(e => e(e(r.divisor, '%', e.ref('inventories.step_size')), '=', 0)),
)

interface NewConsumerRow {
  id: ConsumerId
  uuid: string
  project_id: string
  user_id: string
  type: string | null
  now: number
}
const addConsumers = bulk<NewConsumerRow>(
  { id: 'bigint', uuid: 'text', project_id: 'text', user_id: 'text', type: 'text', now: 'bigint' },
  (db, { now, ...r }, on) => on.insert(db.insertInto('consumers'), { ...r, generation: sql`1`, created_at: now }),
)

interface NewClaimRow {
  consumer_id: ConsumerId
  provider_id: ProviderId
  class_id: ResourceClassId
  used: number
  now: number
}
const addClaims = bulk<NewClaimRow>(
  { consumer_id: 'bigint', provider_id: 'bigint', class_id: 'bigint', used: 'bigint', now: 'bigint' },
  (db, { now, ...r }, on) => on.insert(db.insertInto('claims'), { ...r, created_at: now }),
)
