// Runs the service: opens the store, listens, and drains when it is told to stop.
import type { FastifyInstance } from 'fastify'
import { systemClock } from './clock.ts'
import { type Config, UsageError } from './config.ts'
import type { Context } from './context.ts'
import { createApp } from './http/app.ts'
import { ClaimQueue } from './ledger/claims/queue.ts'
import { Mirror } from './ledger/mirror.ts'
import { addStandardNames } from './ledger/standard.ts'
import { limits } from './limits.ts'
import { createLog } from './log.ts'
import { Metrics } from './metrics.ts'
import { Feed } from './store/feed.ts'
import { migrate, pendingMigrations } from './store/migrate.ts'
import { openStore } from './store/open.ts'
import { PostgresStore } from './store/postgres.ts'
import type { Store } from './store/store.ts'

export async function migrateStore(store: Store): Promise<string[]> {
  const now = systemClock.now()
  const applied = await migrate(store, now)
  await store.write(() => addStandardNames(now))
  return applied
}

/** Starts the APIs. `serve` brings the database up to date by itself; `api` leaves that to `migrate`. */
export async function startApi(config: Config, role: 'serve' | 'api'): Promise<RunningApi> {
  const log = createLog(config.logLevel)
  const metrics = new Metrics()
  const store = openStore(config.database, {
    observer: metrics,
    serving: true,
    connections: config.databaseConnections,
    origin: systemClock.newUuid(),
  })
  try {
    if (role === 'serve') await migrateStore(store)
    else await requireMigrated(store)
    const mirror = new Mirror(store, error => log.warn({ err: error }, 'the copy in memory could not be refreshed'))
    store.onCommit(changes => mirror.absorb(changes))
    const feed = await follow(store, mirror, { config, log, metrics })
    metrics.watch('holdfast_providers', 'Providers in memory.', () => mirror.table.size)
    const claims = new ClaimQueue(store, systemClock, {
      lanes: store.dialect === 'postgres' ? limits.claimLanesMax : 1,
      observe: (granted, refused) => metrics.claimBatch(granted, refused),
    })
    const app = await createApp({ config, store, claims, mirror, clock: systemClock, log, metrics })
    const address = await app.listen({ host: config.host, port: config.port })
    return new RunningApi(app, store, feed, address)
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Loads the copy in memory, and on PostgreSQL keeps it up with what other processes do. */
async function follow(
  store: Store,
  mirror: Mirror,
  { config, log, metrics }: Pick<Context, 'config' | 'log' | 'metrics'>,
) {
  if (!(store instanceof PostgresStore)) {
    await mirror.load()
    return null
  }
  watchPool(metrics, store)
  const feed = new Feed(store, config.database, {
    load: () => mirror.load(),
    refresh: providers => mirror.refresh(providers),
    lagged: seconds => metrics.feedLag(seconds),
    failed: error => log.warn({ err: error }, 'the feed of changes could not be read'),
  })
  await feed.start()
  return feed
}

async function requireMigrated(store: Store): Promise<void> {
  const pending = await pendingMigrations(store)
  if (pending.length > 0) {
    throw new UsageError(`the database lacks ${pending.join(', ')}; run: holdfast migrate --database <the same>`)
  }
}

function watchPool(metrics: Metrics, { pool }: PostgresStore): void {
  metrics.watch('holdfast_store_pool_connections', 'Connections to PostgreSQL.', () => pool.totalCount)
  metrics.watch('holdfast_store_pool_idle', 'Connections to PostgreSQL that wait for work.', () => pool.idleCount)
  metrics.watch('holdfast_store_pool_waiters', 'Transactions that wait for a connection.', () => pool.waitingCount)
}

export class RunningApi {
  readonly address: string
  readonly #app: FastifyInstance
  readonly #store: Store
  readonly #feed: Feed | null

  constructor(app: FastifyInstance, store: Store, feed: Feed | null, address: string) {
    this.#app = app
    this.#store = store
    this.#feed = feed
    this.address = address
  }

  /** Takes no more requests, lets those under way finish, and closes the store. */
  async stop(): Promise<void> {
    await Promise.race([this.#app.close(), new Promise(resolve => setTimeout(resolve, limits.drainMsMax).unref())])
    await this.#feed?.stop()
    await this.#store.close()
  }
}
