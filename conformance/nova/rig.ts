// A real Nova on loopback with Holdfast as its Identity, Placement, Image and Bare Metal: starts and stops its parts, and
// calls them as people do. The scripts of the folder --rig start Nova's parts; Holdfast and the proxy before it are ours.
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { runClient } from '../../test/clients/openstack.ts'
import type { StoreName } from '../stores.ts'
import { Caller, good, type Loose } from './caller.ts'
import { type Holdfast, makeHoldfast } from './holdfast.ts'
import { type Proxy, type Recorded, startProxy } from './proxy.ts'
import { until } from './until.ts'

const run = promisify(execFile)
const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))
/** A busy machine takes minutes to make Nova's databases. */
const SCRIPT_MS = 900_000
const OUTPUT_MAX = 64 * 1_024 * 1_024
/** What must run before the rest, in this order. */
const BELOW = ['mariadb', 'rabbit']
const COMPUTES = ['compute-1', 'compute-2', 'compute-3'] as const
const NOVA = ['neutron', 'conductor', 'scheduler', 'api', ...COMPUTES]
/** What stop.sh ends when nobody says what. */
const ALL = [
  'ironic-1',
  ...COMPUTES,
  'api',
  'scheduler',
  'conductor',
  'neutron',
  'proxy',
  'holdfast',
  'rabbit',
  'mariadb',
]

/** One of Nova's parts, by the name that the scripts have for it. */
export type PartName =
  | 'mariadb'
  | 'rabbit'
  | 'conductor'
  | 'scheduler'
  | 'api'
  | `compute-${number}`
  | `ironic-${number}`

/** What one scenario shows. It cleans up after itself; what is left is a failure. */
export interface Scenario {
  name: string
  run(rig: Rig): Promise<void>
}

export interface RigOptions {
  /** The folder with the scripts. */
  scripts: string
  store: StoreName
  /** Whether Nova's databases of the last run are used again: quicker, if it left nothing. */
  reuse?: boolean
  /** Further settings of Holdfast. */
  args?: readonly string[]
}

export class Rig {
  readonly store: StoreName
  readonly holdfast: Holdfast
  /** Role admin in the project lab; role member in the project demo. */
  readonly admin: Caller
  readonly member: Caller
  readonly #scripts: string
  readonly #env: Env
  readonly #proxy: Proxy

  private constructor(parts: { options: RigOptions; env: Env; holdfast: Holdfast; proxy: Proxy }) {
    const { options, env, holdfast, proxy } = parts
    this.store = options.store
    this.#scripts = options.scripts
    this.#env = env
    this.holdfast = holdfast
    this.#proxy = proxy
    const { clouds } = parse(readFileSync(env.OS_CLIENT_CONFIG_FILE, 'utf8')) as Clouds
    const urls = { nova: novaUrl(env), holdfast: `http://127.0.0.1:${env.PROXY_PORT}` }
    this.admin = new Caller(clouds.nova.auth, urls)
    this.member = new Caller(clouds.demo.auth, urls)
  }

  /** Sets everything up anew and starts it. */
  static async open(options: RigOptions): Promise<Rig> {
    const env = environmentOf(options.scripts)
    await stopParts(options.scripts, env, ...ALL)
    if (!options.reuse) rmSync(env.DATA, { recursive: true, force: true })
    await script(options.scripts, 'setup.sh', env)
    // The scripts have two; with a third there is one left when two are leased.
    await script(options.scripts, 'render.sh', env, 'compute-3', 'fake.MediumFakeDriver', 'compute-3.conf')
    Object.assign(env, environmentOf(options.scripts))
    const holdfast = await makeHoldfast({
      store: options.store,
      args: [...settingsFor(env), ...(options.args ?? [])],
      env,
      logs: env.LOGDIR,
    })
    await holdfast.start()
    const proxy = await startProxy(Number(env.PROXY_PORT), holdfast.ports, join(env.LOGDIR, 'requests.jsonl'))
    const rig = new Rig({ options, env, holdfast, proxy })
    try {
      await script(options.scripts, 'start.sh', env, ...BELOW, ...NOVA)
      await rig.#meet()
      return rig
    } catch (error) {
      await rig.close()
      throw error
    }
  }

  /** Waits until Nova knows its hosts, and makes the flavors. */
  async #meet(): Promise<void> {
    await until('nova-api answers', () =>
      this.admin.nova('GET', '/flavors').then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    await until('all computes are known', async () => {
      await this.manage('cell_v2', 'discover_hosts')
      const { body } = await this.admin.nova('GET', '/os-hypervisors')
      return body.hypervisors?.length === COMPUTES.length
    })
    for (const [name, vcpus, ram, disk] of FLAVORS) {
      const answer = await this.admin.nova('POST', '/flavors', { flavor: { id: name, name, vcpus, ram, disk } })
      if (answer.status !== 409) good(answer, `flavor ${name}`)
    }
  }

  async start(...parts: PartName[]): Promise<void> {
    await script(this.#scripts, 'start.sh', this.#env, ...parts)
  }

  async stop(...parts: PartName[]): Promise<void> {
    await stopParts(this.#scripts, this.#env, ...parts)
  }

  /** Ends a part as a power cut would. */
  kill(part: PartName): void {
    process.kill(Number(readFileSync(join(this.#env.RUN, `${part}.pid`), 'utf8')), 'SIGKILL')
  }

  /** What the real `openstack` prints, as the admin (`nova`) or the member (`demo`). */
  async os(words: string | readonly string[], cloud: 'nova' | 'demo' = 'nova'): Promise<string> {
    const args = typeof words === 'string' ? words.split(' ') : words
    return (await runClient('openstack', ['--os-cloud', cloud, ...args], this.#env)).trim()
  }

  /** What it prints as JSON. */
  async json(words: string | readonly string[], cloud: 'nova' | 'demo' = 'nova'): Promise<Loose> {
    const args = typeof words === 'string' ? words.split(' ') : words
    return JSON.parse(await this.os([...args, '-f', 'json'], cloud))
  }

  /** What nova-manage prints, and the status that it ends with. */
  async manage(...words: string[]): Promise<{ code: number; said: string }> {
    const args = ['--config-file', `${this.#env.DATA}/etc/nova.conf`, ...words]
    const {
      stdout,
      stderr,
      code = 0,
    }: { stdout: string; stderr: string; code?: number } = await run('nova-manage', args, {
      env: this.#env,
      timeout: SCRIPT_MS,
    }).catch((error: { stdout: string; stderr: string; code: number }) => error)
    return { code, said: stdout + stderr }
  }

  /** Moves Holdfast's clock, and with it the leases. Nova's stays. */
  async advance(seconds: number): Promise<void> {
    good(await this.admin.holdfast('POST', '/holdfast/v1/clock', { advance: seconds, work: false }), 'the clock')
  }

  /** Now, by Holdfast's clock. */
  async now(): Promise<number> {
    return Date.parse(good(await this.admin.holdfast('GET', '/holdfast/v1/clock'), 'the clock').now)
  }

  /** All that was asked of Holdfast so far. */
  get requests(): readonly Recorded[] {
    return this.#proxy.requests
  }

  get logs(): string {
    return this.#env.LOGDIR
  }

  async close(): Promise<void> {
    await stopParts(this.#scripts, this.#env, ...ALL)
    await this.#proxy.stop()
    await this.holdfast.remove()
  }
}

/** The variables of the scripts. */
type Env = Record<string, string> &
  Record<
    | 'DATA'
    | 'RUN'
    | 'LOGDIR'
    | 'OS_CLIENT_CONFIG_FILE'
    | 'HOLDFAST_USERS'
    | 'PROXY_PORT'
    | 'NOVA_PORT'
    | 'NEUTRON_PORT',
    string
  >

const FLAVORS = [
  ['m1.tiny', 1, 512, 1],
  ['m1.small', 2, 1024, 2],
  ['m1.large', 2, 3072, 3],
] as const

interface Clouds {
  clouds: Record<'nova' | 'demo', { auth: ConstructorParameters<typeof Caller>[0] }>
}

const novaUrl = (env: Env) => `http://127.0.0.1:${env.NOVA_PORT}/v2.1`

/** No work-arounds: Nova and the network are in the catalog by the settings. */
const settingsFor = (env: Env): string[] =>
  Object.entries({
    auth: 'password',
    users: env.HOLDFAST_USERS,
    compute: 'nova',
    'nova-url': novaUrl(env),
    'nova-poll-seconds': '2',
    catalog: JSON.stringify({ network: { name: 'neutron', url: `http://127.0.0.1:${env.NEUTRON_PORT}` } }),
    'take-over-ms': '3000',
  })
    .flatMap(([name, value]) => [`--${name}`, value])
    .concat('--randomize-candidates', '--test-clock')

/** The variables that the scripts work with. */
function environmentOf(scripts: string): Env {
  const said = execFileSync('bash', ['-c', '. "$0"/env.sh; env -0', scripts], {
    encoding: 'utf8',
    env: { ...process.env, HF: CHECKOUT },
  })
  const all = said
    .split('\0')
    .filter(line => line.includes('='))
    .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
  // Holdfast gets what it needs on the command line.
  return Object.fromEntries(
    all.filter(([name]) => name === 'HOLDFAST_USERS' || !/^(HOLDFAST_|BASH_FUNC)/.test(name)),
  ) as Env
}

/** Its exit status says nothing. */
const stopParts = (folder: string, env: Env, ...parts: readonly string[]) =>
  script(folder, 'stop.sh', env, ...parts).catch(() => {})

async function script(folder: string, name: string, env: Env, ...words: readonly string[]): Promise<void> {
  try {
    await run('bash', [join(folder, name), ...words], { env, timeout: SCRIPT_MS, maxBuffer: OUTPUT_MAX, cwd: CHECKOUT })
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    throw new Error(`${name} ${words.join(' ')}: ${message}\n${stdout.slice(-2_000)}\n${stderr.slice(-2_000)}`, {
      cause: error,
    })
  }
}
