// Runs the service: opens the store, listens, and drains when it has to stop.
import { loadPolicy } from '../api/policy.ts'
import { recordAll } from '../audit/record.ts'
import { systemClock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { Census } from '../measure/census.ts'
import { createApp } from '../api/app.ts'
import { startHealth } from '../api/operator/health.ts'
import { followPair } from '../http/tls.ts'
import { Streams } from '../http/streams.ts'
import { Publisher } from '../events/publisher.ts'
import { serversThere } from '../compute/census.ts'
import { createIdentity, type IdentityOptions } from '../identity/identity.ts'
import { namesOf } from '../identity/seen-names.ts'
import { Throttle } from '../identity/throttle.ts'
import { novaCompute } from '../leases/compute/nova.ts'
import { ownCompute } from '../leases/compute/own.ts'
import { ClaimQueue } from '../ledger/claims/queue.ts'
import { tellUnreadable } from '../measure/unreadable.ts'
import { limits } from '../shared/limits.ts'
import { Rate } from '../shared/rate.ts'
import { UsageError } from '../shared/usage-error.ts'
import { createLog } from '../measure/log.ts'
import { Memory } from './memory.ts'
import { migrateStore } from './migrate.ts'
import type { Logger } from 'pino'
import { type Drivers, driversOf } from '../metal/drivers/registry.ts'
import { Calls } from '../metal/calls/asking.ts'
import { Consoles } from '../metal/consoles/consoles.ts'
import { BootIsos } from '../metal/media/boot-isos.ts'
import { NodeReader } from '../metal/nodes/reader.ts'
import { Grants } from '../metal/grants.ts'
import { NodeShelf } from '../metal/nodes/shelf.ts'
import { Metrics } from '../measure/metrics.ts'
import { SchemaWatch } from '../measure/schema-watch.ts'
import { SharedClock } from '../clock/shared-clock.ts'
import { Bell } from '../store/bell.ts'
import { pendingMigrations } from '../store/migrate.ts'
import { Board } from '../status/board.ts'
import { Pulse } from '../status/pulse.ts'
import { openStore } from '../store/open.ts'
import { PostgresStore } from '../store/postgres.ts'
import type { Dial } from '../store/session.ts'
import type { Store } from '../store/store.ts'
import type { Carrier } from '../webhooks/carrier.ts'
import type { Context } from './context.ts'
import { dutiesForTests, startWork } from './background.ts'
import { carrierFor } from './carrying.ts'
import { watchAll } from './gauges.ts'
import { driversFor, enabledDrivers } from './drivers.ts'
import { novaFor } from './nova.ts'

/** What a process takes from outside. The simulator brings its own. */
interface Surroundings {
  log: Logger
  metrics: Metrics
  /** Makes the connections to PostgreSQL; by default sockets. */
  dial?: Dial
  /** Long transactions on SQLite stay on the one thread. */
  isOneThread?: boolean
  /** By default those of the configuration. */
  drivers?: Drivers
  /** Delivers messages to webhooks; by default over the network. */
  carrier?: Carrier
}

const surroundingsOf = (config: Config): Surroundings => ({ log: createLog(config.logLevel), metrics: new Metrics() })

interface RunningApi {
  address: string
  /** Takes no more requests, finishes those in flight, and closes what was opened. */
  stop(): Promise<void>
}

/** Starts the APIs. `serve` brings the database up to date by itself; `api` leaves that to `migrate`. */
export async function startApi(config: Config, role: 'serve' | 'api'): Promise<RunningApi> {
  await using opened = new AsyncDisposableStack()
  const { app, context } = await assembleApi(config, role, opened, surroundingsOf(config))
  const health = await startHealth(config.metricsPort, context)
  opened.defer(() => health?.stop())
  const address = await app.listen({ host: config.host, port: config.port })
  opened.defer(followPair(app.server, config, context.log))
  const running = opened.move()
  return { address, stop: () => running.disposeAsync() }
}

/** Puts the APIs together without listening. All that is opened is closed with `opened`. */
export async function assembleApi(
  config: Config,
  role: 'serve' | 'api',
  opened: AsyncDisposableStack,
  surroundings: Surroundings,
): Promise<{ app: Awaited<ReturnType<typeof createApp>>; context: Context; memory: Memory }> {
  const place = await openPlace(config, role, opened, surroundings)
  const { store, log, metrics, census, drivers, clock, memory, publisher, policy, carrier, bell } = place
  const claims = new ClaimQueue(store, clock, {
    observe: (granted, refused) => metrics.claimBatch(granted, refused),
    record: recordAll,
    atOnce: store instanceof PostgresStore ? { mirror: memory.mirror, origin: store.origin } : null,
    onMemory: store instanceof PostgresStore ? null : memory.mirror,
  })
  metrics.watch('holdfast_claims_waiting', 'Claims that wait to be decided.', () => claims.length)
  const work = role === 'serve' ? await conductorOf(place, opened) : null
  const duties = work?.duties ?? (await dutiesForTests(place))
  const observe: IdentityOptions['observe'] = (method, outcome) => metrics.authenticated(method, outcome)
  const identity = opened.adopt(await createIdentity({ config, store, clock, log, observe }), made => made.stop())
  const shelf = new NodeShelf()
  const board = new Board({
    id: clock.newUuid(),
    store,
    catchUp: () => memory.catchUp(),
    now: () => clock.now(),
    names: identity.names,
  })
  memory.watch(providers => board.touch(providers))
  memory.onLoad(() => board.forget())
  memory.onLoad(() => shelf.clear())
  const context = {
    config,
    store,
    clock,
    log,
    metrics,
    identity,
    names: identity.names,
    calendarGuesses: new Throttle(() => clock.now()),
    agentCalls: new Rate(limits.agentCallsPerMinute, () => clock.now()),
    webhookTests: new Rate(limits.webhookTestsPerMinute, () => clock.now()),
    policy,
    claims,
    mirror: memory.mirror,
    fleet: memory.fleet,
    calendar: memory.calendar,
    catchUp: () => memory.catchUp(),
    drivers,
    nova: place.nova,
    compute: place.compute,
    calls: opened.adopt(new Calls({ store, bell, silentMs: config.takeOverMs }), made => made.stop()),
    consoles: opened.adopt(consolesOf(place), made => made.stop()),
    bootIsos: opened.adopt(bootIsosOf(place), made => made.stop()),
    nodes: new NodeReader({ store, fleet: memory.fleet, shelf, isFresh: () => memory.isFresh() }),
    allocator: work?.allocator ?? null,
    grants: new Grants({
      store,
      clock,
      drivers,
      supply: { fleet: memory.fleet, table: memory.mirror.table },
      conductor: work?.conductor ?? null,
    }),
    board,
    pulse: new Pulse({
      board,
      publisher,
      now: () => clock.now(),
      failed: error => log.warn({ err: error }, 'the board could not be read'),
    }),
    publisher,
    streams: streamsOf(config, metrics),
    carrier,
    duties,
    feed: memory.feed,
    census,
    schema: place.schema,
    fsckNote: { last: null },
  }
  const app = opened.adopt(await createApp(context), started => started.close())
  return { app, context, memory }
}

/** Null on a damaged database that a conductor can't work on: it can still be read. */
async function conductorOf(place: Awaited<ReturnType<typeof openPlace>>, opened: AsyncDisposableStack) {
  try {
    return opened.adopt(await startWork(place), started => started.stop())
  } catch (error) {
    if (place.schema.words === null) throw error
    place.log.error({ err: error }, 'no conductor can work on this damaged database; the APIs are served without')
    return null
  }
}

/** Where all are one caller, that one may have all streams. */
const streamsOf = ({ streamsMax: max, requestShare, auth }: Config, metrics: Metrics) =>
  new Streams({ max, share: auth === 'none' ? 1 : requestShare / 100, metrics })

const bootIsosOf = ({ clock, log }: Pick<Context, 'clock' | 'log'>) =>
  new BootIsos({
    now: () => clock.now(),
    path: process.env['PATH'] ?? '',
    failed: error => log.warn({ err: error }, 'a boot ISO could not be made or removed'),
  })

function consolesOf({ metrics, ...place }: Pick<Context, 'store' | 'drivers' | 'log' | 'metrics'>): Consoles {
  const consoles = new Consoles(place)
  metrics.watch('holdfast_consoles', 'Serial consoles that are open.', () => consoles.count)
  return consoles
}

interface RunningConductor {
  hostname: string
  /** Where health and metrics are served; null when no port is set for them. */
  address: string | null
  stop(): Promise<void>
}

/** Starts a conductor without APIs, beside other processes on one PostgreSQL. */
export async function startConductor(config: Config): Promise<RunningConductor> {
  if (config.database.startsWith('sqlite:')) {
    throw new UsageError('on SQLite there is one process, and `holdfast serve` contains its conductor')
  }
  await using opened = new AsyncDisposableStack()
  const { place, work } = await assembleConductor(config, opened, surroundingsOf(config))
  const health = await startHealth(config.conductorPort || config.metricsPort, place)
  opened.defer(() => health?.stop())
  // The conductor's timers don't keep the process alive; this one does.
  opened.adopt(
    setInterval(() => {}, limits.feedPruneMs),
    alive => clearInterval(alive),
  )
  const running = opened.move()
  return { hostname: work.hostname, address: health?.address ?? null, stop: () => running.disposeAsync() }
}

/** Puts a conductor together. All that is opened is closed with `opened`. */
export async function assembleConductor(config: Config, opened: AsyncDisposableStack, surroundings: Surroundings) {
  const place = await openPlace(config, 'conductor', opened, surroundings)
  const started = startWork(place).catch(error => {
    const { words } = place.schema
    throw words === null ? error : new UsageError(`no conductor can work on this database: ${words}`, { cause: error })
  })
  const work = opened.adopt(await started, done => done.stop())
  return { place, work }
}

/** Opens what every process has: store, clock, memory, bell. All is closed in reverse, also when a later step fails. */
async function openPlace(
  config: Config,
  role: 'serve' | 'api' | 'conductor',
  opened: AsyncDisposableStack,
  { log, metrics, dial, isOneThread = false, drivers: given, carrier = carrierFor(config) }: Surroundings,
) {
  opened.defer(tellUnreadable(log, metrics))
  const policy = loadPolicy(config)
  const store = openStore(config.database, {
    observer: metrics,
    serving: role !== 'conductor',
    connections: config.databaseConnections,
    origin: systemClock.newUuid(),
    isOneThread,
    ...(dial && { dial }),
  })
  opened.defer(() => store.close())
  const clock = new SharedClock(store, config.testClock)
  const nova = novaFor(config, { store, clock })
  opened.defer(() => nova?.close())
  const drivers =
    given ??
    driversFor(config, {
      now: () => clock.now(),
      namesOf: ({ user, project }) => store.read(() => namesOf({ user, project })),
    })
  const offered = role === 'api' ? driversOf() : enabledDrivers(config, drivers)
  if (store instanceof PostgresStore) await store.requireSessions()
  const schema = new SchemaWatch({ store, log, mayBeDamaged: config.damagedSchema })
  if (role === 'serve') await migrateStore(store)
  else await requireMigrated(store)
  await requireWhole(schema, config)
  opened.defer(() => clock.stop())
  await clock.start()
  const bell = new Bell(store, error => log.error({ err: error }, 'a listener of the bell failed'))
  opened.defer(() => bell.stop())
  const memory = new Memory({
    store,
    log,
    lagged: seconds => metrics.feedLag(seconds),
    woken: topics => bell.heard(topics),
    fellBack: () => metrics.fellBack(),
  })
  opened.defer(() => memory.stop())
  await memory.start()
  if (store instanceof PostgresStore) store.pools.watch(words => log.error(`a database is refused: ${words}`))
  const census = new Census({ store, now: () => clock.now(), silentMs: config.takeOverMs })
  watchAll({ metrics, census, store, memory, schema })
  const publisher = opened.adopt(
    new Publisher({ store, failed: error => log.warn({ err: error }, 'the log could not be read') }),
    made => made.stop(),
  )
  publisher.start()
  memory.onLoad(() => publisher.forget())
  sayDrivers(log, role, { drivers, offered })
  await sayOwnServers({ config, store, log })
  return {
    config,
    policy,
    store,
    log,
    metrics,
    census,
    schema,
    drivers,
    offered,
    bell,
    clock,
    memory,
    publisher,
    carrier,
    nova,
    compute: nova ? novaCompute : ownCompute,
  }
}

/** Which drivers the conductor offers, and what is missing for the others. */
function sayDrivers(log: Logger, role: string, { drivers, offered }: { drivers: Drivers; offered: Drivers }): void {
  if (role === 'api') return
  const lacking = Array.from(drivers.values(), driver => ({ driver: driver.name, lack: driver.lacks?.() ?? null }))
  for (const { driver, lack } of lacking) if (lack !== null) log.warn({ driver }, `the driver is not offered: ${lack}`)
  log.info({ drivers: [...offered.keys()] }, 'the conductor offers these drivers')
}

/** Servers of our own that are there although compute isn't ours any more: nobody sees or changes them meanwhile. */
async function sayOwnServers({ config, store, log }: Pick<Context, 'config' | 'store' | 'log'>): Promise<void> {
  if (config.compute === 'own') return
  const servers = await store.read(serversThere)
  const how = 'they keep their claims; to delete them, start once with --compute own'
  if (servers > 0) log.warn({ servers, compute: config.compute }, `there are servers of our own compute: ${how}`)
}

async function requireMigrated(store: Store): Promise<void> {
  const pending = await pendingMigrations(store)
  if (pending.length > 0) {
    throw new UsageError(`the database lacks ${pending.join(', ')}; run: holdfast migrate --database <the same>`)
  }
}

/** A database that was restored in part would break promises that its missing constraints and triggers keep. */
async function requireWhole(schema: SchemaWatch, { damagedSchema }: Config): Promise<void> {
  await schema.look()
  if (schema.words === null || damagedSchema) return
  const how = 'restore it whole (holdfast fsck names all that is wrong), or serve it as it is with --damaged-schema'
  throw new UsageError(`${schema.words}; ${how}`)
}
