// A reader's terminal: one shell for a whole page, in which commands are typed one after the other.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'

export interface Printed {
  /** null when it took too long. */
  code: number | null
  output: string
}

/** What servers say once they can be used. */
const IS_READY = /listening at|is working on|is watching/
const COMMAND_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 20_000
const LOOK_EVERY_MS = 20

export class Terminal {
  readonly #folder: string
  readonly #environment: Record<string, string>
  readonly #shell: ChildProcess
  /** Where commands and what they print are kept, out of the reader's sight. */
  readonly #drawer: string
  readonly #ended: Promise<string>
  readonly #running = new Map<number, string>()
  #commands = 0

  constructor(folder: string, environment: Record<string, string>) {
    this.#folder = folder
    this.#drawer = mkdtempSync(join(tmpdir(), 'holdfast-typed-'))
    // Half of a command's time is compiling; this way it is spent once a page.
    this.#environment = { ...environment, HOME: this.#drawer, NODE_COMPILE_CACHE: join(this.#drawer, 'compiled') }
    this.#shell = spawn('bash', ['--norc'], {
      cwd: folder,
      env: this.#environment,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
      detached: true,
    })
    this.#ended = once(this.#shell, 'exit').then(([code]) => String(code))
    // When we die, the shell reads the end of its input, and takes along what it started.
    this.#shell.stdin!.write(`trap 'for job in $(jobs -p); do kill -9 -- -$job; done' EXIT\n`)
  }

  /** Runs a command to its end. */
  async run(command: string): Promise<Printed> {
    const { file, out } = this.#write(command)
    const status = await this.#answer(`. '${file}' </dev/null >'${out}' 2>&1; echo $? >&3`)
    return { code: status === null ? null : Number(status), output: readFileSync(out, 'utf8') }
  }

  /** Runs a command that asks questions at a terminal, and types the answer whenever it does. */
  async type(command: string, answer: string): Promise<Printed> {
    const { file } = this.#write(command)
    const exported = join(this.#drawer, 'environment')
    await this.#answer(`export -p >'${exported}'; echo 0 >&3`)
    const child = spawn('script', ['-qefc', `bash -c ". '${exported}'; . '${file}'"`, '/dev/null'], {
      cwd: this.#folder,
      env: this.#environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: COMMAND_TIMEOUT_MS,
    })
    let output = ''
    let typed = 0
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if ((output.match(/(password[^\n]*|again): ?/gi) ?? []).length > typed) {
        typed++
        child.stdin.write(`${answer}\n`)
      }
    })
    await once(child, 'close')
    return { code: child.exitCode, output: stripVTControlCharacters(output).replaceAll('\r\n', '\n') }
  }

  /** Starts a command that stays, and waits until it can be used; code is null when it is. */
  async start(command: string): Promise<Printed> {
    const { file, out } = this.#write(command)
    const status = await this.#answer(`set -m; ( . '${file}' ) </dev/null >'${out}' 2>&1 & echo $! >&3; set +m`)
    const group = Number(status)
    this.#running.set(group, out)
    const printed = () => (existsSync(out) ? readFileSync(out, 'utf8') : '')
    const deadline = performance.now() + COMMAND_TIMEOUT_MS
    while (!IS_READY.test(printed())) {
      if (!isAlive(group)) return { code: 1, output: printed() }
      if (performance.now() > deadline) return { code: 1, output: `${printed()}\n(never said that it is ready)` }
      await sleep(LOOK_EVERY_MS)
    }
    return { code: null, output: printed() }
  }

  /** What those that stay have said, without their welcome: errors, mostly. */
  told(): string {
    const texts = [...this.#running.values()].map(out => readFileSync(out, 'utf8'))
    return texts.flatMap(text => text.split('\n').filter(line => line.startsWith('{'))).join('\n')
  }

  /** Ends what was started to stay. */
  async stopAll(): Promise<void> {
    for (const group of this.#running.keys()) {
      signal(group, 'SIGTERM')
      const deadline = performance.now() + STOP_TIMEOUT_MS
      while (isAlive(group) && performance.now() < deadline) await sleep(LOOK_EVERY_MS)
      signal(group, 'SIGKILL')
    }
    this.#running.clear()
  }

  async close(): Promise<void> {
    for (const group of this.#running.keys()) signal(group, 'SIGKILL')
    this.#shell.stdin!.end()
    // A command that took too long would keep the shell.
    if (this.#shell.pid !== undefined) signal(this.#shell.pid, 'SIGKILL')
    await this.#ended
    rmSync(this.#drawer, { recursive: true, force: true })
  }

  #write(command: string): { file: string; out: string } {
    const file = join(this.#drawer, String(++this.#commands))
    writeFileSync(file, `${command}\n`)
    return { file, out: `${file}.out` }
  }

  /** Has the shell do something that ends with a line on its third channel. */
  async #answer(line: string): Promise<string | null> {
    const answers = this.#shell.stdio[3] as Readable
    const answer = once(answers, 'data').then(([text]) => String(text).trim())
    this.#shell.stdin!.write(`${line}\n`)
    return Promise.race([answer, this.#ended, sleep(COMMAND_TIMEOUT_MS, null, { ref: false })])
  }
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name)
  } catch {
    // It has ended.
  }
}

function isAlive(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}
