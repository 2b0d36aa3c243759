// Claims through the queue without HTTP, in turns with the raw batched call on one connection: PostgreSQL alone.
import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import type { Entry } from '../src/audit/entry.ts'
import { recordAll } from '../src/audit/record.ts'
import { systemClock } from '../src/clock/clock.ts'
import { ClaimQueue } from '../src/ledger/claims/queue.ts'
import { Mirror } from '../src/ledger/mirror.ts'
import { migrateStore } from '../src/process/migrate.ts'
import { PostgresStore } from '../src/store/postgres.ts'
import { openRawCalls } from './limit-postgres.ts'
import { BATCH } from './limit-sqlite.ts'
import { median } from './statistics.ts'

const TURNS = 8
const CLASSES = ['VCPU', 'MEMORY_MB', 'DISK_GB']
const SINGLES = 200
const ENTRY: Entry = {
  at: 1,
  requestId: 'req-00000000-0000-0000-0000-000000000000',
  user: 'admin',
  project: 'admin',
  roles: 'admin',
  address: '127.0.0.1',
  action: 'placement:allocations:update',
  outcome: 'done',
}

export interface NoHttp {
  /** Claims a second of the queue, over those of the raw call. */
  ratio: number
  /** CPU time of the raw call, over that of the queue: node and the database together. */
  ratioByCpu: number
  cpuMicroseconds: number
  /** Statements that a claim alone sends: each is a round trip, unless it is sent together with others. */
  roundTrips: number
}

export async function claimsWithoutHttp(
  urls: { database: string; limit: string },
  at: { providers: number; seconds: number },
): Promise<NoHttp> {
  const raw = await openRawCalls({ url: urls.limit, providers: at.providers, classes: CLASSES.length, connections: 1 })
  const queue = await openQueue(urls.database, at.providers)
  const watch = new Client({ connectionString: urls.limit })
  await watch.connect()
  try {
    await queue.run(at.seconds / 4)
    const figures = []
    for (let turn = 0; turn < TURNS; turn++) {
      const seconds = at.seconds / 4
      figures.push({
        raw: await measured(watch, () => raw.run(seconds)),
        queue: await measured(watch, () => queue.run(seconds)),
      })
    }
    return {
      ratio: median(figures.map(one => one.queue.perSecond / one.raw.perSecond)),
      ratioByCpu: median(figures.map(one => one.raw.cpuMicroseconds / one.queue.cpuMicroseconds)),
      cpuMicroseconds: median(figures.map(one => one.queue.cpuMicroseconds)),
      roundTrips: await queue.roundTrips(),
    }
  } finally {
    await watch.end()
    await queue.close()
    await raw.close()
  }
}

async function measured(watch: Client, run: () => Promise<number>) {
  const before = await cpuSeconds(watch)
  const began = performance.now()
  const claims = await run()
  const seconds = (performance.now() - began) / 1000
  const cpu = (await cpuSeconds(watch)) - before
  return { perSecond: claims / seconds, cpuMicroseconds: (cpu / claims) * 1e6 }
}

/** Of this process, and of all that the database's connections have used. */
async function cpuSeconds(watch: Client): Promise<number> {
  const { rows } = await watch.query<{ pid: number }>('select pid from pg_stat_activity where pid <> pg_backend_pid()')
  const { user, system } = process.cpuUsage()
  const ticks = rows.map(({ pid }) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return Number(fields[11]) + Number(fields[12])
    } catch {
      return 0
    }
  })
  return (user + system) / 1e6 + ticks.reduce((sum, one) => sum + one, 0) / 100
}

async function openQueue(url: string, providers: number) {
  const store = new PostgresStore(url)
  await migrateStore(store)
  const uuids = await addProviders(url, providers)
  const mirror = new Mirror(store, () => {})
  await mirror.load()
  store.onCommit(({ changes }) => mirror.absorb(changes))
  const queue = new ClaimQueue<Entry>(store, systemClock, {
    record: recordAll,
    atOnce: { mirror, origin: store.origin },
  })
  const submit = () =>
    queue.submit(
      {
        kind: 'replace',
        owner: null,
        consumers: [
          {
            consumer: crypto.randomUUID(),
            projectId: 'project',
            userId: 'user',
            type: 'INSTANCE',
            generation: null,
            resources: new Map([
              [uuids[Math.floor(Math.random() * uuids.length)]!, new Map(CLASSES.map(name => [name, 1]))],
            ]),
          },
        ],
      },
      ENTRY,
    )
  return {
    async run(seconds: number) {
      let claims = 0
      const until = performance.now() + seconds * 1000
      const loop = async () => {
        for (; performance.now() < until; claims++) await submit()
      }
      // Twice a batch: while one is written, the next is waiting, as the raw call's is.
      await Promise.all(Array.from({ length: 2 * BATCH }, loop))
      return claims
    },
    async roundTrips() {
      let statements = 0
      const client = await store.pools.writes.connect()
      // All connections share it. Left out: what no claim waits for.
      const shared = Object.getPrototypeOf(Object.getPrototypeOf(client)) as { query: (...args: unknown[]) => unknown }
      client.release()
      const { query } = shared
      shared.query = function (...args) {
        const [asked] = args as [string | { text: string }]
        const text = typeof asked === 'string' ? asked : asked.text
        if (!/^(select pg_notify|discard)\b/.test(text)) statements++
        return query.apply(this, args)
      }
      try {
        for (let i = 0; i < SINGLES; i++) await submit()
      } finally {
        shared.query = query
      }
      return statements / SINGLES
    },
    close: () => store.close(),
  }
}

async function addProviders(url: string, count: number): Promise<string[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const uuids = Array.from({ length: count }, () => crypto.randomUUID())
  await client.query('insert into providers (uuid, name, created_at) select u, u, 0 from unnest($1::text[]) u', [uuids])
  await client.query('update providers set root_id = id')
  await client.query(
    `insert into inventories (provider_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio,
       capacity, ceiling, created_at)
     select p.id, c.id, n, 0, 1, n, 1, 1, n, n, 0 from providers p, resource_classes c, (values (1000000000)) as t (n)
     where c.name = any($1)`,
    [CLASSES],
  )
  await client.query('vacuum analyze')
  await client.end()
  return uuids
}
