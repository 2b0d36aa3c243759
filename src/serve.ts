// Runs the service: opens the store, listens, and drains when it is told to stop.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { loadPolicy } from './api/policy.ts'
import { recordAll } from './audit/record.ts'
import { systemClock } from './clock.ts'
import { type Config, UsageError } from './config.ts'
import { Census } from './census.ts'
import { createApp } from './http/app.ts'
import { startHealth } from './http/health.ts'
import { followPair } from './http/tls.ts'
import { createIdentity, type Identity } from './identity/identity.ts'
import { ClaimQueue } from './ledger/claims/queue.ts'
import { addStandardNames } from './ledger/standard.ts'
import { limits } from './limits.ts'
import { createLog } from './log.ts'
import { Memory } from './memory.ts'
import { FakeHardware } from './metal/drivers/fake.ts'
import { type Drivers, driversOf } from './metal/drivers/registry.ts'
import { NodeShelf } from './metal/node-shelf.ts'
import { Metrics } from './metrics.ts'
import { SharedClock } from './shared-clock.ts'
import { Bell } from './store/bell.ts'
import { migrate, pendingMigrations } from './store/migrate.ts'
import { openStore } from './store/open.ts'
import { PostgresStore } from './store/postgres.ts'
import type { Store } from './store/store.ts'
import { dutiesForTests, startWork, type Work } from './work.ts'

export async function migrateStore(store: Store): Promise<string[]> {
  const now = systemClock.now()
  const applied = await migrate(store, now)
  await store.write(() => addStandardNames(now))
  return applied
}

/** Starts the APIs. `serve` brings the database up to date by itself; `api` leaves that to `migrate`. */
export async function startApi(config: Config, role: 'serve' | 'api'): Promise<RunningApi> {
  const policy = loadPolicy(config)
  const log = createLog(config.logLevel)
  const metrics = new Metrics()
  const store = openStore(config.database, {
    observer: metrics,
    serving: true,
    connections: config.databaseConnections,
    origin: systemClock.newUuid(),
  })
  let work: Work | null = null
  try {
    if (role === 'serve') await migrateStore(store)
    else await requireMigrated(store)
    const clock = new SharedClock(store, config.testClock)
    await clock.start()
    const memory = new Memory({ store, database: config.database, log, lagged: seconds => metrics.feedLag(seconds) })
    await memory.start()
    const { mirror, fleet, calendar } = memory
    watchAll({ metrics, store, memory, clock, config })
    const claims = new ClaimQueue(store, clock, {
      observe: (granted, refused) => metrics.claimBatch(granted, refused),
      record: recordAll,
    })
    metrics.watch('holdfast_claims_waiting', 'Claims that wait to be decided.', () => claims.length)
    const drivers = driversFor(config)
    const bell = new Bell(store, config.database)
    const place = { config, store, log, metrics, drivers, bell, clock, memory }
    if (role === 'serve') work = await startWork(place)
    const duties = work?.duties ?? (await dutiesForTests(place))
    const shelf = new NodeShelf()
    const allocator = work?.allocator ?? null
    const identity = await createIdentity({ config, store, clock, log, metrics })
    const catchUp = () => memory.catchUp()
    const parts = {
      identity,
      policy,
      claims,
      mirror,
      fleet,
      calendar,
      catchUp,
      drivers,
      shelf,
      allocator,
      bell,
      duties,
    }
    const context = { config, store, clock, log, metrics, ...parts }
    const app = await createApp(context)
    const address = await app.listen({ host: config.host, port: config.port })
    const unfollow = followPair(app.server, config, log)
    return new RunningApi({ app, store, identity, unfollow, memory, work, bell, clock, address })
  } catch (error) {
    await work?.stop()
    await store.close()
    throw error
  }
}

export interface RunningConductor {
  hostname: string
  /** Where it can be asked how it is; null when nobody wanted that. */
  address: string | null
  stop(): Promise<void>
}

/** Starts a conductor by itself, beside others on one PostgreSQL. */
export async function startConductor(config: Config): Promise<RunningConductor> {
  if (config.database.startsWith('sqlite:')) {
    throw new UsageError('on SQLite there is one process, and `holdfast serve` contains its conductor')
  }
  const log = createLog(config.logLevel)
  const metrics = new Metrics()
  const store = openStore(config.database, {
    observer: metrics,
    connections: config.databaseConnections,
    origin: systemClock.newUuid(),
  })
  let work: Work | null = null
  try {
    await requireMigrated(store)
    const bell = new Bell(store, config.database)
    const clock = new SharedClock(store, config.testClock)
    await clock.start()
    const memory = new Memory({ store, database: config.database, log, lagged: seconds => metrics.feedLag(seconds) })
    await memory.start()
    watchAll({ metrics, store, memory, clock, config })
    const place = { config, store, log, metrics, drivers: driversFor(config), bell, clock, memory }
    const working = (work = await startWork(place))
    const health = await startHealth(config, { store, metrics, log })
    // Its timers don't hold the process; this does.
    const alive = setInterval(() => {}, limits.feedPruneMs)
    const stop = async () => {
      clearInterval(alive)
      await health?.stop()
      clock.stop()
      await working.stop()
      await bell.stop()
      await memory.stop()
      await store.close()
    }
    return { hostname: working.hostname, address: health?.address ?? null, stop }
  } catch (error) {
    await work?.stop()
    await store.close()
    throw error
  }
}

function driversFor({ fakeDelayMs }: Config): Drivers {
  return driversOf(new FakeHardware({ delayMs: fakeDelayMs, pause: ms => sleep(ms, null, { ref: false }) }))
}

async function requireMigrated(store: Store): Promise<void> {
  const pending = await pendingMigrations(store)
  if (pending.length > 0) {
    throw new UsageError(`the database lacks ${pending.join(', ')}; run: holdfast migrate --database <the same>`)
  }
}

interface Watched {
  metrics: Metrics
  store: Store
  memory: Memory
  clock: SharedClock
  config: Config
}

/** What metrics show that others keep or count. */
function watchAll({ metrics, store, memory: { mirror, fleet }, clock, config }: Watched): void {
  metrics.watch('holdfast_providers', 'Providers in memory.', () => mirror.table.size)
  metrics.watchNodes(fleet)
  metrics.watchCensus(new Census({ store, now: () => clock.now(), silentMs: config.takeOverMs }))
  if (store instanceof PostgresStore) watchPool(metrics, store)
}

function watchPool(metrics: Metrics, { pool }: PostgresStore): void {
  metrics.watch('holdfast_store_pool_connections', 'Connections to PostgreSQL.', () => pool.totalCount)
  metrics.watch('holdfast_store_pool_idle', 'Connections to PostgreSQL that wait for work.', () => pool.idleCount)
  metrics.watch('holdfast_store_pool_waiters', 'Transactions that wait for a connection.', () => pool.waitingCount)
}

interface Parts {
  app: FastifyInstance
  store: Store
  identity: Identity
  /** Ends the look-out for new certificates. */
  unfollow: () => void
  memory: Memory
  work: Work | null
  bell: Bell
  clock: SharedClock
  address: string
}

export class RunningApi {
  readonly address: string
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
    this.address = parts.address
  }

  /** Takes no more requests, lets those under way finish, and closes the store. */
  async stop(): Promise<void> {
    const { app, store, identity, unfollow, memory, work, bell, clock } = this.#parts
    clock.stop()
    // Clients keep a connection open after the last answer on it; nobody waits for them.
    const hangUp = setInterval(() => app.server.closeIdleConnections(), limits.drainCheckMs)
    await Promise.race([app.close(), new Promise(resolve => setTimeout(resolve, limits.drainMsMax).unref())])
    clearInterval(hangUp)
    identity.stop()
    unfollow()
    await work?.stop()
    await bell.stop()
    await memory.stop()
    await store.close()
  }
}
