// Times how long it takes, on PostgreSQL, until a commit of one process shows in the candidates of another.
import { setTimeout as sleep } from 'node:timers/promises'
import { candidatesText, Connection, repeat } from './candidates-client.ts'
import { fill, flatWorld } from './candidates-worlds.ts'
import { deleteAllocation, putAllocation } from './requests.ts'
import { freePort, holdfast, runCommand, startServer } from './server.ts'
import { percentile } from './statistics.ts'
import type { BenchStore } from './stores.ts'

export interface Lag {
  p50Ms: number
  p99Ms: number
  samples: number
}

const PROVIDERS = 1_000
const PAUSE_MS = 7
const PATIENCE_MS = 5_000
const LOAD_CONNECTIONS = 4
const WARM_UP_SAMPLES = 30

/** The lag without other load, and while others claim as fast as they can. */
export async function measureLag(store: BenchStore, samples: number): Promise<{ quiet: Lag; busy: Lag }> {
  const database = await store.database()
  await runCommand([holdfast, 'migrate', '--database', database])
  const world = flatWorld(PROVIDERS, true)
  // The last provider has room for exactly one claim, so each claim and release shows in the candidates.
  const watched = world.providers.at(-1)!
  for (const row of world.inventories) if (row.provider === watched.id) row.total = 1
  await fill(database, world)
  const start = async () => {
    const port = await freePort()
    const argv = [holdfast, 'api', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
    return startServer({ argv, port, readyPath: '/placement/' })
  }
  const [writer, reader] = [await start(), await start()]
  const [writes, reads] = [new Connection(writer.port), new Connection(reader.port)]
  const question = candidatesText(`resources=VCPU:1&in_tree=${watched.uuid}`)
  const sample = async () => {
    const consumer = crypto.randomUUID()
    const taken = await timeUntil(putAllocation(consumer, watched.uuid, 3), '"allocation_requests":[]', true)
    const freed = await timeUntil(deleteAllocation(consumer), '"allocation_requests":[]', false)
    return [taken, freed]
  }
  const timeUntil = async (write: string, sign: string, present: boolean) => {
    const { status, text } = await writes.send(write, true)
    if (status !== 204) throw new Error(`a claim for the lag was answered ${status}: ${text}`)
    const committed = performance.now()
    for (;;) {
      const answer = await reads.send(question, true)
      const now = performance.now()
      if (answer.text.replaceAll(' ', '').includes(sign) === present) return now - committed
      if (now - committed > PATIENCE_MS) throw new Error('the other process never knew of a claim')
    }
  }
  const series = async (size = samples) => {
    const lags: number[] = []
    while (lags.length < size) {
      lags.push(...(await sample()))
      // Varies, so that samples don't keep step with the polls of the feed.
      await sleep(PAUSE_MS + (lags.length % 5) * PAUSE_MS)
    }
    lags.sort((a, b) => a - b)
    return { p50Ms: percentile(lags, 0.5), p99Ms: percentile(lags, 0.99), samples: lags.length }
  }
  try {
    await series(WARM_UP_SAMPLES)
    const quiet = await series()
    const state = { loading: true }
    const others = world.providers.slice(0, -1)
    const load = (async () => {
      while (state.loading) {
        await repeat({ port: writer.port, connections: LOAD_CONNECTIONS, seconds: 0.5 }, async connection => {
          const { uuid } = others[Math.floor(Math.random() * others.length)]!
          await connection.send(putAllocation(crypto.randomUUID(), uuid, 3))
        })
      }
    })()
    const busy = await series().finally(() => (state.loading = false))
    await load
    return { quiet, busy }
  } finally {
    for (const connection of [writes, reads]) connection.close()
    for (const server of [writer, reader]) await server.stop()
  }
}
