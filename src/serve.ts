// Runs the service: opens the store, listens, and drains when it is told to stop.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { systemClock } from './clock.ts'
import { type Config, UsageError } from './config.ts'
import type { Context } from './context.ts'
import { createApp } from './http/app.ts'
import { followPair } from './http/tls.ts'
import { createIdentity, type Identity } from './identity/identity.ts'
import { ClaimQueue } from './ledger/claims/queue.ts'
import { Mirror } from './ledger/mirror.ts'
import { addStandardNames } from './ledger/standard.ts'
import { limits } from './limits.ts'
import { createLog } from './log.ts'
import type { Duty } from './duty.ts'
import { Conductor } from './metal/conductor.ts'
import { FakeHardware } from './metal/drivers/fake.ts'
import { type Drivers, driversOf } from './metal/drivers/registry.ts'
import { NodeShelf } from './metal/node-shelf.ts'
import { Metrics } from './metrics.ts'
import { Bell } from './store/bell.ts'
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
    const claims = new ClaimQueue(store, systemClock, (granted, refused) => metrics.claimBatch(granted, refused))
    const drivers = driversFor(config)
    const bell = new Bell(store, config.database)
    const conductor = role === 'serve' ? await conduct({ config, store, log, drivers, bell, clock: systemClock }) : null
    const shelf = new NodeShelf()
    const identity = await createIdentity({ config, store, clock: systemClock, log, metrics })
    const context = { config, store, identity, claims, mirror, drivers, shelf, bell, clock: systemClock, log, metrics }
    const app = await createApp(context)
    const address = await app.listen({ host: config.host, port: config.port })
    const unfollow = followPair(app.server, config, log)
    return new RunningApi({ app, store, identity, unfollow, feed, conductor, bell, address })
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Starts a conductor by itself, beside others on one PostgreSQL. */
export async function startConductor(config: Config): Promise<{ hostname: string; stop(): Promise<void> }> {
  if (config.database.startsWith('sqlite:')) {
    throw new UsageError('on SQLite there is one process, and `holdfast serve` contains its conductor')
  }
  const log = createLog(config.logLevel)
  const store = openStore(config.database, { connections: config.databaseConnections, origin: systemClock.newUuid() })
  try {
    await requireMigrated(store)
    const bell = new Bell(store, config.database)
    const drivers = driversFor(config)
    const conductor = await conduct({ config, store, log, drivers, bell, clock: systemClock })
    // Its timers don't hold the process; this does.
    const alive = setInterval(() => {}, limits.feedPruneMs)
    const stop = async () => {
      clearInterval(alive)
      await conductor.stop()
      await bell.stop()
      await store.close()
    }
    return { hostname: conductor.hostname, stop }
  } catch (error) {
    await store.close()
    throw error
  }
}

function driversFor({ fakeDelayMs }: Config): Drivers {
  return driversOf(new FakeHardware({ delayMs: fakeDelayMs, pause: ms => sleep(ms, null, { ref: false }) }))
}

type Conducting = Pick<Context, 'config' | 'store' | 'log' | 'drivers' | 'bell' | 'clock'>

/** All that works behind the APIs. */
interface Workers {
  hostname: string
  stop(): Promise<void>
}

/** Starts the conductor and the duties of each room. */
async function conduct(context: Conducting): Promise<Workers> {
  const { config, store, log, drivers, bell, clock } = context
  const conductor = new Conductor({
    store,
    clock,
    log,
    drivers,
    rules: config.inspectionRules,
    hostname: config.conductorName ?? hostname(),
    isNameGiven: config.conductorName !== null,
    group: config.conductorGroup,
    takeOverMs: config.takeOverMs,
  })
  const duties: Duty[] = []
  await conductor.start()
  await bell.listen(() => {
    conductor.wake()
    for (const duty of duties) void duty.wake()
  })
  for (const duty of duties) void duty.wake()
  const stop = async () => {
    await Promise.all(duties.map(duty => duty.stop()))
    await conductor.stop()
  }
  return { hostname: conductor.hostname, stop }
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

interface Parts {
  app: FastifyInstance
  store: Store
  identity: Identity
  /** Ends the look-out for new certificates. */
  unfollow: () => void
  feed: Feed | null
  conductor: Workers | null
  bell: Bell
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
    const { app, store, identity, unfollow, feed, conductor, bell } = this.#parts
    // Clients keep a connection open after the last answer on it; nobody waits for them.
    const hangUp = setInterval(() => app.server.closeIdleConnections(), limits.drainCheckMs)
    await Promise.race([app.close(), new Promise(resolve => setTimeout(resolve, limits.drainMsMax).unref())])
    clearInterval(hangUp)
    identity.stop()
    unfollow()
    await conductor?.stop()
    await bell.stop()
    await feed?.stop()
    await store.close()
  }
}
