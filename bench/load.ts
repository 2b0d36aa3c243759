// How long it takes to read a ledger into memory, in a process of its own, beside the time that the database alone takes
// to give out the same rows as text.
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { fill, flatWorld } from './candidates-worlds.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { holdfast, runCommand } from './server.ts'
import { median } from './statistics.ts'
import { onEachStore } from './stores.ts'

const LOADER = fileURLToPath(new URL('candidates-memory.ts', import.meta.url))
/** 1.5 s for 100,000, 15 s for a million, and never more than 1 GB. */
const SECONDS_A_PROVIDER = 15e-6
const BYTES_AT_MOST = 1e9

/** Each table of the load, summed up by the database: it reads all that the load reads, and sends a number. */
const RAW = [
  'select sum(length(uuid) + length(name) + generation + revision + root_id) as n from providers',
  'select sum(total + reserved + min_unit + max_unit + step_size + used + blocked) as n from inventories',
  'select sum(trait_id) as n from provider_traits',
  'select sum(length(aggregate)) as n from provider_aggregates',
]

interface Run {
  ms: number
  bytes: number
  peakBytes: number
  providers: number
}

export async function benchLoad(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: `Loads of ${options.providers.toLocaleString('en-US')} providers`,
    measured: { columns: ['store', 's', 'database alone, s', 'times', 'bytes each', 'peak MB'], rows: [] },
    limits: { columns: [], rows: [] },
    goals: [],
    faults: [],
  }
  await onEachStore(options.stores, async store => {
    options.progress(`${store.name}: ${options.providers} providers`)
    const database = await store.database()
    await runCommand([holdfast, 'migrate', '--database', database])
    await fill(database, flatWorld(options.providers))
    const runs: (Run & { rawMs: number })[] = []
    for (let round = 0; round < options.rounds; round++) {
      const { status, output } = await runCommand([process.execPath, '--expose-gc', LOADER, database])
      if (status !== 0) throw new Error(`the load failed: ${output}`)
      runs.push({ ...(JSON.parse(output) as Run), rawMs: await rawMs(database) })
    }
    const { bytes, peakBytes, providers } = runs[0]!
    if (providers !== options.providers) report.faults.push(`${store.name}: only ${providers} providers were loaded`)
    const seconds = median(runs.map(run => run.ms)) / 1000
    const times = median(runs.map(run => run.ms / run.rawMs))
    const raw = median(runs.map(run => run.rawMs)) / 1000
    report.measured.rows.push([store.name, ...[seconds, raw, times, bytes / providers, peakBytes / 1e6].map(figure)])
    const most = options.providers * SECONDS_A_PROVIDER
    report.goals.push(
      fits(`${store.name}: s to load`, seconds, most),
      fits(`${store.name}: MB at the peak of the load`, peakBytes / 1e6, BYTES_AT_MOST / 1e6),
    )
  })
  return report
}

async function rawMs(database: string): Promise<number> {
  if (database.startsWith('sqlite:')) {
    const db = new DatabaseSync(database.slice('sqlite:'.length), { readOnly: true })
    const start = performance.now()
    for (const sql of RAW) db.prepare(sql).get()
    db.close()
    return performance.now() - start
  }
  const client = new Client({ connectionString: database })
  await client.connect()
  const start = performance.now()
  for (const sql of RAW) await client.query(sql)
  await client.end()
  return performance.now() - start
}

const fits = (text: string, value: number, most: number) => ({
  text: `${text}: ${value.toFixed(2)} of at most ${most.toFixed(2)}, fits`,
  value: most / value,
  atLeast: 1,
})
