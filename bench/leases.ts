// Times new leases over HTTP in a full calendar, against a bare answer of the same size; and many that start at once.
import { fileURLToPath } from 'node:url'
import { addStandardNames } from '../src/ledger/standard.ts'
import { migrate } from '../src/store/migrate.ts'
import { openStore as openDatabase } from '../src/store/open.ts'
import { Connection, getText, repeat, type Rate } from './candidates-client.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Goal, type Report } from './report.ts'
import { freePort, holdfast, type Server, startServer } from './server.ts'
import { median } from './statistics.ts'
import { type BenchStore, openStore } from './stores.ts'

const BARE = fileURLToPath(new URL('candidates-limit-server.ts', import.meta.url))
const HOUR_MS = 3_600_000
const SETTLE_SECONDS = 0.3

interface World {
  hosts: number
  leases: number
}
const SMALL: World = { hosts: 1_000, leases: 10_000 }
const LARGE: World = { hosts: 10_000, leases: 100_000 }

export async function benchLeases(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: 'Leases',
    measured: { columns: ['request', 'ms', 'bare ms', 'times'], rows: [] },
    limits: { columns: ['besides', 'ms'], rows: [] },
    goals: [],
    faults: [],
  }
  const port = await freePort()
  const bare = await startServer({ argv: [process.execPath, BARE, `${port}`], port })
  try {
    for (const name of options.stores) {
      const store = await openStore(name)
      try {
        const small = await benchWorld(SMALL, { store, bare, options, report })
        const large = await benchWorld(LARGE, { store, bare, options, report })
        report.goals.push(atMost(`${name}: a lease among 1,000 hosts, times a bare answer`, small.times, 20))
        report.goals.push(atMost(`${name}: among 10,000 hosts, times among 1,000`, large.ms / small.ms, 5))
      } finally {
        await store.stop()
      }
    }
  } finally {
    await bare.stop()
  }
  return report
}

interface Bench {
  store: BenchStore
  bare: Server
  options: BenchOptions
  report: Report
}

async function benchWorld(world: World, bench: Bench): Promise<{ ms: number; times: number }> {
  const { store, options, report } = bench
  const name = `${store.name}, ${figure(world.hosts)} hosts, ${figure(world.leases)} leases`
  options.progress(`${name}: filling`)
  const database = await store.database()
  const base = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
  await fill(database, world, base)
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', database, '--auth', 'noauth2', '--test-clock']
  const server = await startServer({ argv, port, readyPath: '/readyz' })
  try {
    options.progress(name)
    const packed = await measure(`${name}: POST lease, hosts in use`, server, () => hourIn(base, 2, 6), bench)
    // Nothing is booked then: all hosts are searched for one in use before a free one is taken. The slowest success.
    const free = await measure(`${name}: POST lease, an empty day`, server, () => hourIn(base, 1_000, 7_000), bench)
    const refused = await alone(
      server,
      () => text('POST', '/reservation/v1/leases', leaseBody(base, 3, 9_999, true)),
      0.5,
    )
    report.limits.rows.push([`${name}: a lease that is refused, with reasons and windows`, figure(refused.p50Ms)])
    if (world === SMALL) await startAtOnce(name, server, base, report)
    await checkWhole(name, server, report)
    return packed.ms > free.ms ? packed : free
  } finally {
    await server.stop()
  }
}

const hourIn = (base: number, from: number, count: number) =>
  leaseBody(base, from + Math.floor(Math.random() * count), 3)

async function measure(name: string, server: Server, body: () => object, { bare, options, report }: Bench) {
  const create = () => text('POST', '/reservation/v1/leases', body())
  const bytes = Buffer.byteLength(await expectOnce(server, create(), 201))
  const rounds: { ours: Rate; bare: Rate }[] = []
  await alone(server, create, SETTLE_SECONDS)
  for (let round = 0; round < options.rounds; round++) {
    const ours = await alone(server, create, options.seconds)
    rounds.push({ ours, bare: await alone(bare, () => getText(`/bytes/${bytes}`), options.seconds) })
  }
  const [ms, bareMs] = [median(rounds.map(r => r.ours.p50Ms)), median(rounds.map(r => r.bare.p50Ms))]
  const times = median(rounds.map(r => r.ours.p50Ms / r.bare.p50Ms))
  report.measured.rows.push([name, ...[ms, bareMs, times].map(figure)])
  return { ms, times }
}

/** Moves the clock to the hour at which the first lease of each host starts. */
async function startAtOnce(name: string, server: Server, base: number, report: Report): Promise<void> {
  const advance = Math.ceil((base - Date.now()) / 1_000)
  const started = performance.now()
  await expectOnce(server, text('POST', '/holdfast/v1/clock', { advance }), 200)
  report.limits.rows.push([`${name}: ${figure(SMALL.hosts)} leases start at once`, figure(performance.now() - started)])
}

function leaseBody(base: number, hour: number, amount: number, isImpossible = false): object {
  const date = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  const size = isImpossible ? { vcpus: 32, memory_mb: 262_144 } : { vcpus: 1, memory_mb: 512 }
  const wish = {
    resource_type: 'virtual:instance',
    ...size,
    disk_gb: 1,
    amount,
    affinity: null,
    resource_properties: '',
  }
  const dates = { start_date: date(base + hour * HOUR_MS), end_date: date(base + (hour + 1) * HOUR_MS) }
  return { name: 'bench', ...dates, reservations: [wish] }
}

const HEAD = 'HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: admin\r\ncontent-type: application/json\r\n'

function text(method: string, path: string, body: object): string {
  const json = JSON.stringify(body)
  return `${method} ${path} ${HEAD}content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
}

async function expect(connection: Connection, request: string, status: number): Promise<string> {
  const answer = await connection.send(request, true)
  if (answer.status !== status) throw new Error(`answered ${answer.status}: ${answer.text.slice(0, 300)}`)
  return answer.text
}

async function expectOnce(server: Server, request: string, status: number): Promise<string> {
  const connection = new Connection(server.port)
  const answer = await expect(connection, request, status)
  connection.close()
  return answer
}

const alone = ({ port }: Server, next: () => string, seconds: number): Promise<Rate> =>
  repeat({ port, connections: 1, seconds }, async connection => void (await connection.send(next())))

async function checkWhole(name: string, server: Server, report: Report): Promise<void> {
  const response = await fetch(`${server.origin}/holdfast/v1/fsck`, { headers: { 'x-auth-token': 'admin' } })
  const { violations } = (await response.json()) as { violations: number }
  if (violations !== 0) report.faults.push(`${name}: ${violations} violations`)
}

/** Hosts of 32 vcpus, with the leases spread evenly, one after the other. Plain SQL: over HTTP it takes an hour. */
export async function fill(database: string, { hosts, leases }: World, base: number): Promise<void> {
  const store = openDatabase(database)
  try {
    await migrate(store, base)
    await store.write(() => addStandardNames(base))
    const isSqlite = store.dialect === 'sqlite'
    const id = (kind: number, i = 'i') => {
      const hex = isSqlite ? `printf('%012x', ${i})` : `lpad(to_hex(${i}), 12, '0')`
      return `'0000000${kind}-0000-4000-8000-' || ${hex}`
    }
    const upTo = (count: number) =>
      `with recursive n (i) as (select cast(1 as bigint) union all select i + 1 from n where i < ${count})`
    const insert = (count: number, into: string, values: string) =>
      `insert into ${into} ${upTo(count)} select ${values} from n`
    const className = `'CUSTOM_RESERVATION_' || upper(replace(${id(4)}, '-', '_'))`
    const start = `${base} + ((i - 1) / ${hosts}) * ${HOUR_MS}`
    const terms = `'{"resource_type":"virtual:instance","vcpus":1,"memory_mb":512,"disk_gb":1,"amount":1,"affinity":null,"resource_properties":""}'`
    const specs = `'{"resources:' || ${className} || '":"1"}'`
    await store.script(async run => {
      const provider = 'providers (id, uuid, name, parent_id, root_id, managed_by, dedicated_to, created_at)'
      await run(insert(hosts, provider, `i, ${id(1)}, 'host-' || i, null, i, null, 'leases', ${base}`))
      await run(insert(hosts, provider, `i + ${hosts}, ${id(2)}, 'blazar_host-' || i, i, i, 'leases', null, ${base}`))
      for (const [name, total] of [
        ['VCPU', 32],
        ['MEMORY_MB', 262_144],
        ['DISK_GB', 4_000],
      ] as const) {
        const inventory =
          'inventories (provider_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity, ceiling, created_at)'
        const classId = `(select id from resource_classes where name = '${name}')`
        await run(
          insert(hosts, inventory, `i, ${classId}, ${total}, 0, 1, ${total}, 1, 1.0, ${total}, ${total}, ${base}`),
        )
      }
      const leasable =
        'leasables (provider_id, kind, name, reservation_provider, reservable, vcpus_ceiling, memory_mb_ceiling, disk_gb_ceiling, created_at)'
      await run(insert(hosts, leasable, `i, 'host', 'host-' || i, ${id(2)}, 1, 32, 262144, 4000, ${base}`))
      const lease = 'leases (id, name, project_id, user_id, start_at, end_at, status, degraded, created_at)'
      await run(
        insert(
          leases,
          lease,
          `${id(3)}, 'l', 'p' || (i % 100), 'u', ${start}, ${start} + ${HOUR_MS}, 'PENDING', 0, ${base}`,
        ),
      )
      const reservation =
        'lease_reservations (id, lease_id, position, resource_type, status, terms, missing_resources, resources_changed, created_at)'
      await run(
        insert(leases, reservation, `${id(4)}, ${id(3)}, 0, 'virtual:instance', 'pending', ${terms}, 0, 0, ${base}`),
      )
      const event = 'lease_events (id, lease_id, event_type, time, due_at, created_at)'
      await run(insert(leases, event, `${id(5)}, ${id(3)}, 'start_lease', ${start}, ${start}, ${base}`))
      await run(
        insert(leases, event, `${id(6)}, ${id(3)}, 'end_lease', ${start} + ${HOUR_MS}, ${start} + ${HOUR_MS}, ${base}`),
      )
      await run(insert(leases, 'resource_classes (name, managed_by, created_at)', `${className}, 'leases', ${base}`))
      const flavor =
        'flavors (id, name, vcpus, ram_mb, disk_gb, ephemeral_gb, swap_mb, rxtx_factor, is_public, disabled, extra_specs, managed_by, created_at)'
      await run(
        insert(
          leases,
          flavor,
          `${id(4)}, 'reservation:' || ${id(4)}, 1, 512, 1, 0, 0, 1.0, 0, 0, ${specs}, 'leases', ${base}`,
        ),
      )
      const booking =
        'bookings (reservation_id, provider_id, lease_id, slots, is_whole, vcpus, memory_mb, disk_gb, start_at, end_at, free_at)'
      const window = `${start}, ${start} + ${HOUR_MS}, ${start} + ${HOUR_MS}`
      await run(insert(leases, booking, `${id(4)}, (i - 1) % ${hosts} + 1, ${id(3)}, 1, 0, 1, 512, 1, ${window}`))
      if (!isSqlite) {
        for (const table of ['providers', 'resource_classes']) {
          await run(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`)
        }
        await run('analyze')
      }
    })
  } finally {
    await store.close()
  }
}

function atMost(text: string, value: number, most: number): Goal {
  return { text: `${text}: ${value.toFixed(2)} of at most ${most}, fits`, value: most / value, atLeast: 1 }
}
