// Holdfast's processes for the rig: one on SQLite, two APIs and two conductors on PostgreSQL.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, holdfast } from '../../bench/server.ts'
import { openStore, type StoreName } from '../stores.ts'
import { until } from './until.ts'

export interface Holdfast {
  /** Where the API processes listen. */
  readonly ports: readonly number[]
  start(): Promise<void>
  /** Ends all processes, with SIGKILL if it is said. */
  stop(signal?: NodeJS.Signals): Promise<void>
  fsck(): Promise<string>
  /** Stops for good, and removes the database. */
  remove(): Promise<void>
}

export interface HoldfastOptions {
  store: StoreName
  /** Settings that all processes have. */
  args: readonly string[]
  env: NodeJS.ProcessEnv
  logs: string
}

interface Part {
  name: string
  words: string[]
  port: number
}

const STOP_MS = 20_000

export async function makeHoldfast({ store, args, env, logs }: HoldfastOptions): Promise<Holdfast> {
  const database = await openStore(store)
  const all = [...args, '--database', await database.database()]
  const parts = await partsOf(store)
  const running = new Map<string, ChildProcess>()

  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    await Promise.all([...running].map(([name, child]) => end(child, signal).then(() => running.delete(name))))
  }
  process.once('exit', () => running.forEach(child => child.kill('SIGKILL')))
  return {
    ports: parts.filter(({ words }) => words[0] !== 'conductor').map(({ port }) => port),
    start: async () => {
      for (const { name, words } of parts) {
        const out = openSync(join(logs, `${name}.out`), 'a')
        running.set(name, spawn(holdfast, [...words, ...all], { env, stdio: ['ignore', out, out] }))
        closeSync(out)
      }
      for (const { name, port } of parts) await until(`${name} answers`, () => answers(port))
    },
    stop,
    fsck: async () => {
      const child = spawn(holdfast, ['fsck', '--database', all.at(-1)!], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
      const [code] = (await once(child, 'close')) as [number]
      return code === 0 ? '' : said
    },
    remove: async () => {
      await stop()
      await database.stop()
    },
  }
}

async function partsOf(store: StoreName): Promise<Part[]> {
  if (store === 'sqlite') {
    const port = await freePort()
    return [{ name: 'holdfast', words: ['serve', '--port', `${port}`], port }]
  }
  const parts: Part[] = []
  for (const word of ['api', 'conductor']) {
    for (const number of [1, 2]) {
      const port = await freePort()
      const name = `${word}-${number}`
      const own = word === 'api' ? ['--port', `${port}`] : ['--conductor-name', name, '--conductor-port', `${port}`]
      parts.push({ name: `holdfast-${name}`, words: [word, ...own], port })
    }
  }
  return parts
}

async function answers(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  for (const each of [signal, 'SIGKILL'] as const) {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(each)
    await Promise.race([exit, sleep(STOP_MS, undefined, { ref: false })])
  }
}
