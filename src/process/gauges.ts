// The gauges that read their value from other objects.
import type { Census } from '../measure/census.ts'
import type { Metrics } from '../measure/metrics.ts'
import type { SchemaWatch } from '../measure/schema-watch.ts'
import type { Feed } from '../store/feed.ts'
import { PostgresStore } from '../store/postgres.ts'
import type { Store } from '../store/store.ts'
import type { Memory } from './memory.ts'

interface Watched {
  schema: SchemaWatch
  metrics: Metrics
  census: Census
  store: Store
  memory: Memory
}

export function watchAll({ metrics, census, store, schema, memory: { mirror, fleet, feed } }: Watched): void {
  const faults = 'What of the schema is missing in the database or differs, as of the last look.'
  metrics.watch('holdfast_schema_faults', faults, () => schema.faults)
  metrics.watch('holdfast_providers', 'Providers in memory.', () => mirror.table.size)
  metrics.watchNodes(fleet)
  metrics.watchCensus(census)
  if (store instanceof PostgresStore) watchPool(metrics, store)
  if (feed) watchFeed(metrics, feed)
}

function watchFeed(metrics: Metrics, feed: Feed): void {
  metrics.watch('holdfast_feed_backlog', 'Changes by other processes that the last poll found.', () => feed.backlog)
  const help = 'Time since everything was taken in that other processes had changed.'
  metrics.watch('holdfast_feed_behind_seconds', help, () => feed.behindSeconds)
}

function watchPool(metrics: Metrics, { pools }: PostgresStore): void {
  const sum = (count: 'totalCount' | 'idleCount') => () => pools.all.reduce((total, pool) => total + pool[count], 0)
  const refused = 'Servers that are there and refused: they lack what this process has seen.'
  metrics.watch('holdfast_store_refused', refused, () => pools.refused)
  metrics.watch('holdfast_store_pool_connections', 'Connections to PostgreSQL.', sum('totalCount'))
  metrics.watch('holdfast_store_pool_idle', 'Connections to PostgreSQL that wait for work.', sum('idleCount'))
  metrics.watch('holdfast_store_pool_waiters', 'Transactions that wait for a connection.', () => pools.waiting)
}
