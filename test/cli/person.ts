// Someone at a shell: types commands, reads what comes back, and looks at the exit code.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, type Holdfast } from '../../src/client/index.ts'
import type { Config } from '../../src/config/config.ts'
import { launchHoldfast, startHoldfast, type Typed, typeHoldfast, type TypedExit } from '../support/command.ts'
import { eachIdentity, type Setting, until } from '../support/identity.ts'
import { type Command, type Exit, runHoldfast } from '../support/server.ts'
import { eachStore } from '../support/stores.ts'

export const BIN = fileURLToPath(new URL('../../bin/holdfast', import.meta.url))

/** What was set for this process must not reach the command, and neither must the zone of the machine. */
const NO_CLOUD = {
  TZ: 'UTC',
  OS_CLOUD: '',
  OS_AUTH_URL: '',
  OS_USERNAME: '',
  OS_TOKEN: '',
  OS_ENDPOINT: '',
  HOME: '/nonexistent',
}

export interface Terminal {
  type: (keys: string) => void
  /** All that was shown so far, escapes and all. */
  shown: () => string
  exit: Promise<{ code: number | null; shown: string }>
}

type Line = string | readonly string[]

const wordsIn = (line: Line) => (typeof line === 'string' ? line.split(' ') : line)

export class Person {
  readonly #origin: () => string
  readonly #run: typeof launchHoldfast

  /** They type into this process, unless it is said how a command is run. */
  constructor(origin: () => string, run: typeof launchHoldfast = typeHoldfast) {
    this.#origin = origin
    this.#run = run
  }

  get origin(): string {
    return this.#origin()
  }

  /** The words may hold spaces; a line is split at them. */
  types(line: Line, environment: Record<string, string> = {}): Promise<Exit> {
    return this.#run(wordsIn(line), { environment: this.#sees(environment) })
  }

  /** Goes on in this process meanwhile. */
  begins(line: Line, environment: Record<string, string> = {}): Typed {
    return startHoldfast(wordsIn(line), { environment: this.#sees(environment) })
  }

  /** A process of its own, which can be told something or killed. */
  starts(line: Line, environment: Record<string, string> = {}): Command {
    return runHoldfast(wordsIn(line), this.#sees(environment))
  }

  #sees = (environment: Record<string, string>) => ({ ...NO_CLOUD, HOLDFAST_URL: this.origin, ...environment })

  /** As at a terminal of so many columns. */
  looksAt(line: Line, columns?: number): Promise<TypedExit> {
    return typeHoldfast(wordsIn(line), { environment: this.#sees({}), ...(columns !== undefined && { columns }) })
  }

  /** What a shell of theirs has set: the command is found, and so is the server. */
  environment(): NodeJS.ProcessEnv {
    // CI's terminals are taken for colourless.
    const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...inherited } = process.env
    return { ...inherited, ...NO_CLOUD, PATH: `${dirname(BIN)}:${process.env['PATH']}`, HOLDFAST_URL: this.origin }
  }

  /** A line of the shell in a pseudo-terminal of so many columns; what is written to it is typed. */
  atTerminal(line: string, columns: number, environment: Record<string, string> = {}): Terminal {
    const child = spawn('script', ['-qec', `stty cols ${columns}; ${line}`, '/dev/null'], {
      env: { ...this.environment(), TERM: 'xterm-256color', ...environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let shown = ''
    child.stdout.setEncoding('utf8').on('data', text => (shown += text))
    const exit = once(child, 'close').then(() => ({ code: child.exitCode, shown }))
    return { type: keys => void child.stdin.write(keys), shown: () => shown, exit }
  }

  /** What is printed by a command that must succeed, without the last line's end. */
  async reads(line: Line): Promise<string> {
    const { code, stdout, stderr } = await this.types(line)
    assert.equal(code, 0, `${String(line)}: ${stderr}`)
    return stdout.trimEnd()
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects, and fails when it isn't there
  async readsJson(line: string): Promise<any> {
    return JSON.parse(await this.reads(`${line} -f json`))
  }

  /** One line, and the code that scripts look at. */
  async isRefused(line: Line, code: number, said: RegExp): Promise<void> {
    const exit = await this.types(line)
    assert.equal(exit.code, code, `${String(line)}: ${exit.stderr}${exit.stdout}`)
    assert.match(exit.stderr, said)
    // On a busy machine it may say first what it waits for.
    assert.match(exit.stderr, /^((?!holdfast:)[^\n]+\n)*holdfast: [^\n]+\n$/, 'one line')
  }

  /** The library, for what is set up and looked at beside. */
  library = (): Promise<Holdfast> => connect({ url: this.origin, env: {} })

  /** A node that can be had. */
  async node(name: string, resourceClass = 'gpu'): Promise<string> {
    const { nodes } = await this.library()
    const { uuid } = await nodes.create({ driver: 'fake-hardware', name, resource_class: resourceClass })
    const reaches = async (state: string) => {
      const node = await until(
        () => nodes.show(uuid),
        ({ provision_state }) => provision_state === state,
      )
      assert.equal(node.provision_state, state)
    }
    await nodes.provision(uuid, 'manage')
    await reaches('manageable')
    await nodes.provision(uuid, 'provide')
    await reaches('available')
    return uuid
  }
}

export { until }

const OPEN = { auth: 'none', placementPolicy: 'secure' } as const

/** One group of tests for each kind of database, with a server on it that lets everyone in. */
export const eachShell = (name: string, body: (person: Person) => void) =>
  eachStore(name, api => body(new Person(() => api.origin)), OPEN)

// The command only speaks HTTP, so one kind of database is enough for what it does.
export const ONE_KIND = ['sqlite'] as const

/** A group of tests with a server that lets everyone in. */
export const atShell = (name: string, body: (person: Person) => void, settings: Partial<Config> = {}) =>
  eachStore(name, api => body(new Person(() => api.origin)), { ...OPEN, ...settings }, ONE_KIND)

/** A group of tests with a server that knows users. */
export const atLogin = (name: string, body: (setting: Setting) => void) => eachIdentity(name, body, {}, ONE_KIND)

export const hasScript = spawnSync('script', ['--version']).status === 0
