// The real clients, where Debian's packages have brought them: openstack, baremetal, and openstacksdk in Python.
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

// Debian's own, where its packages are, whatever other Python comes first on the path.
const PYTHON = '/usr/bin/python3'
const FORKED = fileURLToPath(new URL('forked.py', import.meta.url))
const ANSWER_TIMEOUT_MS = 120_000

/** Why the clients can't be used here, or false: the form that node:test wants for `skip`. */
export function missing(...packages: string[]): string | false {
  try {
    execFileSync('dpkg-query', ['--show', ...packages], { stdio: 'ignore' })
    return false
  } catch {
    return `needs the real clients: apt-get install --no-install-recommends ${packages.join(' ')}`
  }
}

interface Answer {
  code: number
  stdout: string
  stderr: string
}

type Waiting = (answer: Answer) => void

/** One process that has the clients loaded, and does one command after the other. */
class Clients {
  readonly #process: ChildProcessByStdio<Writable, Readable, null> = spawn(PYTHON, [FORKED], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  readonly #waiting: Waiting[] = []

  constructor() {
    createInterface(this.#process.stdout).on('line', line => this.#waiting.shift()!(JSON.parse(line) as Answer))
    this.#rest()
  }

  async run(request: object): Promise<Answer> {
    this.#process.ref()
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#waiting.push(resolve)
    const late = setTimeout(() => reject(new Error(`no end of ${JSON.stringify(request)}`)), ANSWER_TIMEOUT_MS)
    this.#process.stdin.write(`${JSON.stringify(request)}\n`)
    try {
      return await promise
    } finally {
      clearTimeout(late)
      if (this.#waiting.length === 0) this.#rest()
    }
  }

  /** Tests may end meanwhile. */
  #rest(): void {
    this.#process.unref()
    for (const stream of [this.#process.stdin, this.#process.stdout]) (stream as Socket).unref()
  }
}

let clients: Clients | null = null

/** What a command printed; if it fails, what it said is in the error. */
export async function runClient(
  command: 'openstack' | 'baremetal' | 'python',
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  clients ??= new Clients()
  const { code, stdout, stderr } = await clients.run({ command, args, env })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout
}

/** Runs `openstack` against an endpoint without authentication and answers what it printed as JSON, or as text. */
export async function openstack(endpoint: string, ...args: string[]): Promise<unknown> {
  const env = { ...process.env, OS_AUTH_TYPE: 'none', OS_ENDPOINT: endpoint, OS_PLACEMENT_API_VERSION: '1.39' }
  const stdout = await runClient('openstack', args, env)
  return args.includes('json') ? JSON.parse(stdout) : stdout
}
