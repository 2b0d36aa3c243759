// A real Patroni cluster on this machine: etcd and three members, with the settings of docs/DEPLOYING.md.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { parse, stringify } from 'yaml'
import { waitFor } from '../support/baremetal.ts'
import { childrenOf } from './pair.ts'
import { snippet } from './snippets.ts'

const MEMBERS = ['n1', 'n2', 'n3']
/** Only a test that fails waits so long; `ttl` is 30 s, and machines are busy. */
const DEADLINE_MS = 300_000
const PASSWORDS = { superuser: 'super', replication: 'replica', rewind: 'rewind' }
/** Debian's, the newest: Patroni needs all the tools that come with a server. */
const [BIN = ''] = globSync('/usr/lib/postgresql/*/bin').sort().toReversed()

/** What is missing for a cluster; null if nothing is. */
export function lacksPatroni(): string | null {
  const missing = [
    ...['/usr/bin/patroni', '/usr/bin/patronictl', '/usr/bin/etcd'].filter(path => !existsSync(path)),
    ...(BIN === '' ? ['/usr/lib/postgresql'] : []),
    ...(process.getuid?.() === 0 ? [] : ['the rights of root']),
  ]
  return missing.length === 0 ? null : `there is no ${missing.join(', ')}`
}

interface Member {
  name: string
  role: string
  state: string
}

interface Node {
  name: string
  config: string
  data: string
  port: number
  rest: number
  patroni: ChildProcess | null
}

export class Cluster {
  readonly #folder: string
  readonly #user: { uid: number; gid: number }
  readonly #nodes: Node[] = []
  #etcd: ChildProcess | null = null

  private constructor(folder: string) {
    this.#folder = folder
    const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
    this.#user = { uid: id('-u'), gid: id('-g') }
  }

  static async start(): Promise<Cluster> {
    const cluster = new Cluster(mkdtempSync(join(tmpdir(), 'holdfast-patroni-')))
    process.once('exit', cluster.#killAll)
    try {
      await cluster.#start()
      return cluster
    } catch (error) {
      const told = new Error(`the cluster did not start: ${cluster.log}`, { cause: error })
      await cluster.stop()
      throw told
    }
  }

  /** Names all members, as the page says. */
  url(database: string): string {
    return `postgres://postgres:${PASSWORDS.superuser}@${this.#nodes.map(({ port }) => `127.0.0.1:${port}`).join()}/${database}`
  }

  /** The end of what Patroni said, for failures. */
  get log(): string {
    return this.#nodes.map(({ name }) => `${name}: ${tail(join(this.#folder, `${name}.log`))}`).join('\n')
  }

  async createDatabase(name: string): Promise<void> {
    const { port } = this.#node((await this.settled()).leader)
    const client = new Client({
      connectionString: `postgres://postgres:${PASSWORDS.superuser}@127.0.0.1:${port}/postgres`,
    })
    await client.connect()
    await client.query(`create database ${name}`)
    await client.end()
  }

  /** Waits until there is a leader, a replica that commits wait for, and all members run. */
  settled(deadlineMs?: number): Promise<{ leader: string }> {
    const isSettled = (members: readonly Member[]) => {
      const isWhole = members.length === MEMBERS.length && members.every(({ state }) => /running|streaming/.test(state))
      const isSynchronous = members.some(({ role }) => role === 'sync_standby')
      return isWhole && isSynchronous ? leaderOf(members) : null
    }
    return this.#until('all members run', isSettled, deadlineMs)
  }

  /** Waits until another member leads. */
  leaderOtherThan(name: string): Promise<{ leader: string }> {
    return this.#until(`${name} no longer leads`, members => {
      const leader = leaderOf(members)
      return leader !== null && leader !== name ? leader : null
    })
  }

  /** As the page says it. */
  switchOver(): void {
    const lines = snippet('sh', '<!-- not run: needs Patroni -->').split('\n')
    const line = lines.find(text => text.includes('switchover'))!
    const command = line.replace('/etc/patroni/config.yml', this.#nodes[0]!.config)
    execFileSync('sh', ['-c', command], { stdio: 'pipe', timeout: DEADLINE_MS })
  }

  /** Ends a member as a power cut does, Patroni and PostgreSQL. Returns what brings it back. */
  cutPower(name: string): () => void {
    const node = this.#node(name)
    const postgres = this.#postgres(node)
    for (const pid of [node.patroni!.pid!, ...postgres]) signal(pid, 'SIGSTOP')
    for (const pid of [node.patroni!.pid!, ...postgres]) signal(pid, 'SIGKILL')
    return () => this.#startPatroni(node)
  }

  /** Stops PostgreSQL where it stands, while Patroni goes on. Returns what lets it go on. */
  freeze(name: string): () => void {
    const pids = this.#postgres(this.#node(name))
    for (const pid of pids) signal(pid, 'SIGSTOP')
    return () => pids.forEach(pid => signal(pid, 'SIGCONT'))
  }

  /** Nobody can reach etcd, or it is slow without end. Returns what lets it go on. */
  freezeEtcd(): () => void {
    signal(this.#etcd!.pid!, 'SIGSTOP')
    return () => signal(this.#etcd!.pid!, 'SIGCONT')
  }

  async stop(): Promise<void> {
    process.off('exit', this.#killAll)
    this.#killAll()
    const children = [...this.#nodes.map(({ patroni }) => patroni), this.#etcd].filter(child => child !== null)
    const running = children.filter(child => child.exitCode === null && child.signalCode === null)
    await Promise.all(running.map(child => once(child, 'exit')))
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 })
  }

  readonly #killAll = () => {
    for (const node of this.#nodes) {
      if (node.patroni) signal(node.patroni.pid!, 'SIGKILL')
      for (const pid of this.#postgres(node)) signal(pid, 'SIGKILL')
    }
    if (this.#etcd) signal(this.#etcd.pid!, 'SIGKILL')
  }

  async #start(): Promise<void> {
    execFileSync('chown', [`${this.#user.uid}:${this.#user.gid}`, this.#folder])
    const [client, peer, ...ports] = await freePorts(2 + 2 * MEMBERS.length)
    const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`]
    const settings = {
      name: 'one',
      'data-dir': join(this.#folder, 'etcd'),
      'initial-cluster': `one=${peerUrl}`,
      'listen-client-urls': clientUrl,
      'advertise-client-urls': clientUrl,
      'listen-peer-urls': peerUrl,
      'initial-advertise-peer-urls': peerUrl,
    }
    const args = Object.entries(settings).map(([setting, value]) => `--${setting}=${value}`)
    this.#etcd = this.#spawn('etcd', '/usr/bin/etcd', args)
    for (const [i, name] of MEMBERS.entries()) {
      const [port, rest] = [ports[2 * i]!, ports[2 * i + 1]!]
      const config = join(this.#folder, `${name}.yml`)
      const node = { name, config, data: join(this.#folder, name), port, rest, patroni: null }
      writeFileSync(config, stringify(this.#settings(node, client!)), { mode: 0o644 })
      this.#nodes.push(node)
      this.#startPatroni(node)
    }
    await this.settled()
  }

  /** Those of the page as they stand, and where everything is on this machine. */
  #settings({ name, data, port, rest }: Omit<Node, 'patroni'>, etcd: number): object {
    const paged = parse(snippet('yaml', '### Patroni')) as { bootstrap: object }
    const watchdog = parse(snippet('yaml', 'And on each machine')) as object
    const sockets = join(this.#folder, `${name}-sockets`)
    mkdirSync(sockets)
    execFileSync('chown', [`${this.#user.uid}`, sockets])
    const hba = ['local all all trust', 'host all all 127.0.0.1/32 md5', 'host replication all 127.0.0.1/32 md5']
    return {
      ...paged,
      // Without the device a member with the page's watchdog doesn't start.
      ...(existsSync('/dev/watchdog') ? watchdog : { watchdog: { mode: 'off' } }),
      bootstrap: { ...paged.bootstrap, initdb: [{ encoding: 'UTF8' }, { locale: 'C' }], pg_hba: hba },
      scope: 'holdfast',
      name,
      restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
      etcd3: { hosts: `127.0.0.1:${etcd}` },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: `127.0.0.1:${port}`,
        data_dir: data,
        bin_dir: BIN,
        pgpass: `${data}.pgpass`,
        pg_hba: hba,
        parameters: { unix_socket_directories: sockets },
        authentication: {
          superuser: { username: 'postgres', password: PASSWORDS.superuser },
          replication: { username: 'replicator', password: PASSWORDS.replication },
          rewind: { username: 'rewinder', password: PASSWORDS.rewind },
        },
      },
    }
  }

  #startPatroni(node: Node): void {
    node.patroni = this.#spawn(node.name, '/usr/bin/patroni', [node.config])
  }

  #spawn(name: string, command: string, args: string[]): ChildProcess {
    const log = openSync(join(this.#folder, `${name}.log`), 'a')
    return spawn(command, args, { ...this.#user, cwd: this.#folder, stdio: ['ignore', log, log] })
  }

  #node(name: string): Node {
    return this.#nodes.find(node => node.name === name)!
  }

  /** The postmaster and its children. */
  #postgres({ data }: Node): number[] {
    try {
      const postmaster = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0])
      return [postmaster, ...childrenOf(postmaster)]
    } catch {
      return []
    }
  }

  async #until(
    what: string,
    leads: (members: readonly Member[]) => string | null,
    deadlineMs = DEADLINE_MS,
  ): Promise<{ leader: string }> {
    let leader: string | null = null
    const isSo = async () => {
      leader = await this.#members().then(leads, () => null)
      return leader !== null
    }
    await waitFor(what, isSo, deadlineMs)
    return { leader: leader! }
  }

  /** As the first member that answers has them. */
  async #members(): Promise<readonly Member[]> {
    const asked = this.#nodes.map(async ({ rest }) => {
      const answer = await fetch(`http://127.0.0.1:${rest}/cluster`, { signal: AbortSignal.timeout(5_000) })
      return ((await answer.json()) as { members: Member[] }).members
    })
    return Promise.any(asked)
  }
}

const leaderOf = (members: readonly Member[]) =>
  members.find(({ role, state }) => role === 'leader' && state === 'running')?.name ?? null

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It is gone.
  }
}

function tail(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8').slice(-1_500) : ''
}

/** Ports that nobody has now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map(server => once(server, 'listening')))
  const ports = servers.map(server => (server.address() as { port: number }).port)
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports
}
