// Aggregates: groups of providers, known only by their UUIDs.
import { someOf } from '../events/subject.ts'
import { problem } from '../problems/problem.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import { bulk, command, query } from '../store/statement.ts'
import { all, type Read, runAll, type Write } from '../store/transaction.ts'
import { aggregateKey } from './uuid.ts'
import { bumpAfter, findProvider, lockProvider, markProvider, touchProvider } from './providers.ts'

interface Membership {
  provider_id: ProviderId
  aggregate: string
}

const aggregatesOf = query((db, a: { provider: ProviderId }, on) =>
  db
    .selectFrom('provider_aggregates')
    .select('aggregate')
    .where('provider_id', '=', a.provider)
    .orderBy(on.unindexed('aggregate', 'text')),
)
const leaveAll = command((db, a: { provider: ProviderId }) =>
  db.deleteFrom('provider_aggregates').where('provider_id', '=', a.provider),
)
const join = bulk<Membership>({ provider_id: 'bigint', aggregate: 'text' }, (db, r, on) =>
  on.insert(db.insertInto('provider_aggregates'), { provider_id: r.provider_id, aggregate: r.aggregate }),
)

export function* providerAggregates(uuid: string): Read<{ generation: number; aggregates: string[] }> {
  const provider = yield* findProvider(uuid)
  const rows = yield* all(aggregatesOf({ provider: provider.id }))
  return { generation: provider.generation, aggregates: rows.map(row => row.aggregate) }
}

/** Replaces a provider's aggregates. A given generation (microversion 1.19 on) is checked and raised. */
export function* setProviderAggregates(
  uuid: string,
  aggregates: readonly string[],
  generation: number | null,
  now: number,
): Write<number> {
  const provider = yield* lockProvider(uuid)
  if (generation !== null && generation !== provider.generation) {
    throw problem('generation_conflict', {
      reason: "Resource provider's generation already changed. Please update the generation and try again.",
    })
  }
  const rows = aggregates.map(aggregate => ({ provider_id: provider.id, aggregate }))
  const commands = [leaveAll({ provider: provider.id }), join({ rows })]
  const news = { became: 'changed', data: { aggregates: someOf(aggregates) } } as const
  if (generation !== null)
    return yield* bumpAfter(
      { commands, parts: { aggregates: aggregates.toSorted().map(aggregateKey) } },
      provider,
      now,
      news,
    )
  yield* runAll(commands)
  yield* touchProvider(provider)
  yield* markProvider(provider, { before: provider.generation, after: provider.generation }, news)
  return provider.generation
}
