// Runs the service: opens the store, listens, and drains when it is told to stop.
import type { FastifyInstance } from 'fastify'
import { systemClock } from './clock.ts'
import { type Config, UsageError } from './config.ts'
import type { Context } from './context.ts'
import { createApp } from './http/app.ts'
import { ClaimQueue } from './ledger/claims/queue.ts'
import { addStandardNames } from './ledger/standard.ts'
import { limits } from './limits.ts'
import { createLog } from './log.ts'
import { Metrics } from './metrics.ts'
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
  })
  try {
    if (role === 'serve') await migrateStore(store)
    else await requireMigrated(store)
    const claims = new ClaimQueue(store, systemClock, (granted, refused) => metrics.claimBatch(granted, refused))
    if (store instanceof PostgresStore) watchPool(metrics, store)
    const context: Context = { config, store, claims, clock: systemClock, log, metrics }
    const app = await createApp(context)
    const address = await app.listen({ host: config.host, port: config.port })
    return new RunningApi(app, store, address)
  } catch (error) {
    await store.close()
    throw error
  }
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

  constructor(app: FastifyInstance, store: Store, address: string) {
    this.#app = app
    this.#store = store
    this.address = address
  }

  /** Takes no more requests, lets those under way finish, and closes the store. */
  async stop(): Promise<void> {
    await Promise.race([this.#app.close(), new Promise(resolve => setTimeout(resolve, limits.drainMsMax).unref())])
    await this.#store.close()
  }
}
