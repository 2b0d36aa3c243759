// How much 64 greedy clients of one project slow down a quiet client of another, for reads and for writes.
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Connection, repeat, type Rate } from './candidates-client.ts'
import { ask, makeFree } from './allocations-fleet.ts'
import { kinds } from './fair-kinds.ts'
import type { BenchOptions } from './options.ts'
import { figure, type Report } from './report.ts'
import { createProvider, setInventories } from './requests.ts'
import { freePort, holdfast, startServer } from './server.ts'
import { median } from './statistics.ts'
import { type BenchStore, onEachStore } from './stores.ts'

const GREEDY = 64
const NODES = 120
const CLAIMS = 1_000_000
/** The quiet one may become at most so many times slower, at the 99th percentile. */
const SLOWER_MAX = { read: 3, write: 5 }
const GREEDY_CLIENTS = fileURLToPath(new URL('fair-greedy.ts', import.meta.url))
/** Until the greedy ones are at it. */
const HEAD_START_SECONDS = 1.5

export async function benchFair(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: `Fairness: a quiet client beside ${GREEDY} greedy ones of another project, all doing the same`,
    measured: {
      columns: ['store and what', 'alone p50 ms', 'alone p99 ms', 'p50 ms', 'p99 ms', 'p99, times', 'greedy, a second'],
      rows: [],
    },
    limits: { columns: [], rows: [] },
    goals: [],
    faults: [],
  }
  await onEachStore(options.stores, store => benchStore(store, options, report))
  return report
}

async function startGreedy(argv: readonly unknown[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [GREEDY_CLIENTS, ...argv.map(String)])
  return Number(stdout)
}

async function benchStore(store: BenchStore, options: BenchOptions, report: Report): Promise<void> {
  const { seconds, rounds, progress } = options
  const port = await freePort()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', await store.database(), '--auth', 'noauth2']
  const server = await startServer({ argv, port })
  try {
    await makeFree(port, NODES)
    const provider = crypto.randomUUID()
    const connection = new Connection(port)
    await ask(connection, createProvider(provider), 200)
    await ask(connection, setInventories(provider, CLAIMS), 200)
    connection.close()
    for (const { what, kind, act } of kinds(provider)) {
      const quiet = act('admin:lab')
      const measure = () => repeat({ port, connections: 1, seconds }, async one => void (await quiet(one)))
      await measure()
      const taken: { alone: Rate; beside: Rate; greedy: number }[] = []
      for (let round = 0; round < rounds; round++) {
        progress(`${store.name}: ${what}, ${round + 1} of ${rounds}`)
        const alone = await measure()
        const greedy = startGreedy([port, provider, what, GREEDY, seconds + HEAD_START_SECONDS + 0.5])
        await sleep(HEAD_START_SECONDS * 1_000)
        taken.push({ alone, beside: await measure(), greedy: await greedy })
      }
      const of = (pick: (round: (typeof taken)[number]) => number) => median(taken.map(pick))
      const times = of(({ alone, beside }) => beside.p99Ms / alone.p99Ms)
      report.measured.rows.push([
        `${store.name}: ${what}`,
        figure(of(({ alone }) => alone.p50Ms)),
        figure(of(({ alone }) => alone.p99Ms)),
        figure(of(({ beside }) => beside.p50Ms)),
        figure(of(({ beside }) => beside.p99Ms)),
        figure(times),
        figure(of(({ greedy }) => greedy)),
      ])
      const atMost = SLOWER_MAX[kind]
      report.goals.push({ text: `${store.name}, ${what}: ${atMost} / times slower`, value: atMost / times, atLeast: 1 })
    }
  } finally {
    await server.stop()
  }
}
