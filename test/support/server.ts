// Starts servers for tests: in this process, which is fast, or as the real command, which can be killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { migrateStore } from '../../src/process/migrate.ts'
import { startApi } from '../../src/process/serve.ts'
import { openStore } from '../../src/store/open.ts'

const BIN = fileURLToPath(new URL('../../bin/holdfast', import.meta.url))
/** Far more than needed, so that a busy machine doesn't fail a test. */
const START_TIMEOUT_MS = 120_000

export interface Server {
  origin: string
  stop(): Promise<void>
}

/** A server in this process, without a log, because tests cause many refusals. */
export async function startServer(
  database: string,
  settings: Partial<Config> = {},
  role: 'serve' | 'api' = 'serve',
): Promise<Server> {
  const flags = { port: 0, auth: 'noauth2', placementPolicy: 'legacy', logLevel: 'silent', lingerMs: 0 }
  const config = loadConfig(flags, {}, undefined)
  const api = await startApi({ ...config, database, ...settings }, role)
  return { origin: api.address, stop: () => api.stop() }
}

/** Migrates a database, as `holdfast migrate` does, and returns its address. */
export async function migrated(database: string): Promise<string> {
  const store = openStore(database)
  try {
    await migrateStore(store)
  } finally {
    await store.close()
  }
  return database
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface Command {
  child: ChildProcess
  /** All output so far. */
  stdout: () => string
  exit: Promise<Exit>
}

/** Runs bin/holdfast, without the settings in this process's environment. */
export function runHoldfast(
  args: readonly string[],
  environment: Record<string, string> = {},
  cwd = '/tmp',
  bin = BIN,
): Command {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'))
  const child = spawn(bin, args, {
    cwd,
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // A failed test must not leave its server behind.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', text => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', text => (stderr += text))
  const exit = once(child, 'close').then(([code, signal]): Exit => ({ code, signal, stdout, stderr }))
  return { child, stdout: () => stdout, exit }
}

export interface ServerProcess extends Server {
  pid: number
  /** Ends it as a power cut would. */
  kill9(): Promise<void>
  terminate(): Promise<Exit>
}

/** `holdfast serve` (or `api`) as a separate process, once it listens. */
export async function spawnServer(database: string, args: readonly string[] = [], role = 'serve') {
  const fixed = [role, '--port', '0', '--database', database, '--log-level', 'error']
  const command = runHoldfast([...fixed, '--auth', 'noauth2', '--placement-policy', 'legacy', ...args])
  return listening(command)
}

/** Waits until the command has printed its address. */
export async function listening({ child, stdout, exit }: Command): Promise<ServerProcess> {
  const origin = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error('the server did not start in time'))
    }, START_TIMEOUT_MS)
    child.stdout!.on('data', () => {
      const found = /listening at (\S+)/.exec(stdout())
      if (found) resolve(found[1]!)
    })
    void exit.then(({ code, stderr }) => reject(new Error(`the server exited with ${code}: ${stderr}`)))
    void exit.finally(() => clearTimeout(late))
    child.stdout!.once('data', () => clearTimeout(late))
  })
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exit
  }
  return {
    origin,
    pid: child.pid!,
    stop: async () => void (await end('SIGTERM')),
    kill9: async () => void (await end('SIGKILL')),
    terminate: () => end('SIGTERM'),
  }
}
