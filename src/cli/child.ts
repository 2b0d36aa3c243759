// The command of `run`: gets signals, is over in time, and doesn't outlive us.
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandFailure, EXIT } from './failures.ts'
import { codeOf } from './interrupt.ts'
import { guarding } from '../shared/guard.ts'
import type { Left } from '../client/renewal.ts'
import { terminal } from './terminal.ts'

/** How often a deadline is looked at: timers stop while the machine sleeps. */
const LOOK_MS = 500
/** Between looks for what the command left behind. */
const PAUSE_MS = 50
/** What doesn't go by SIGKILL within this time hangs in the kernel. */
const KILLED_MS = 200

interface Manners {
  /** How long the command may take to end if we are killed. */
  graceMs: number
}

export class Child {
  /** The exit code. */
  readonly over: Promise<number>
  readonly #process: ChildProcess
  readonly #guard: ChildProcess | null
  readonly #isGroup: boolean
  #isOver = false
  /** The deadlines that it was given. */
  readonly #deadlines: Left[] = []

  constructor([file, ...args]: readonly string[], env: Record<string, string | undefined>, { graceMs }: Manners) {
    const { stdin, stdout, stderr } = terminal()
    // Signals go to the command's whole group, as with timeout(1). A group of its own would take a terminal from it.
    this.#isGroup = ![stdin, stdout, stderr].some(({ isTTY }) => isTTY)
    this.#process = spawn(file!, args, { env, stdio: 'inherit', detached: this.#isGroup })
    this.#guard = this.#process.pid === undefined ? null : guarding(this.#target, graceMs)
    this.over = this.#over(file!)
  }

  async #over(file: string): Promise<number> {
    const code = await new Promise<number>((resolve, reject) => {
      this.#process.once('error', error => reject(notStarted(file, error)))
      this.#process.once('exit', (code, signal) => resolve(signal ? codeOf(signal) : code!))
    })
    if (this.#isGroup && this.#deadlines.length > 0) await this.#restIsOver()
    this.#isOver = true
    this.#guard?.stdin?.end('over\n')
    return code
  }

  /** A shell may be gone at once, while what it started is still at its end, and on the node. */
  async #restIsOver(): Promise<void> {
    while (this.send(0) && this.#leftMs > -KILLED_MS && hasLiving(this.#process.pid!)) {
      if (this.#leftMs <= 0) this.send('SIGKILL')
      await sleep(PAUSE_MS)
    }
  }

  get #leftMs(): number {
    return Math.min(...this.#deadlines.map(left => left()))
  }

  get #target(): number {
    return this.#isGroup ? -this.#process.pid! : this.#process.pid!
  }

  /** Returns whether anybody was there to get it. */
  send(signal: NodeJS.Signals | 0): boolean {
    // Its number may be another's by now.
    if (this.#isOver) return false
    if (!this.#isGroup) return this.#process.kill(signal)
    try {
      return process.kill(this.#target, signal)
    } catch {
      return false
    }
  }

  /** Asks the command to end; when nothing is left of the time, ends it. */
  end(signal: NodeJS.Signals, left: Left): void {
    this.#deadlines.push(left)
    this.send(signal)
    this.#killInTime()
  }

  /** The same if it must be over in time, even if we are killed meanwhile. */
  endInTime(left: Left): void {
    this.#guard?.stdin?.write('0\n')
    this.end('SIGTERM', left)
  }

  #killInTime(): void {
    const ms = this.#leftMs
    if (ms <= 0) this.send('SIGKILL')
    else if (!this.#isOver) setTimeout(() => this.#killInTime(), Math.min(ms, LOOK_MS)).unref()
  }
}

/** Whether someone in the group is alive: in containers, the dead may stay listed because nobody collects them. */
function hasLiving(group: number): boolean {
  try {
    return readdirSync('/proc').some(name => /^\d+$/.test(name) && isLivingIn(group, name))
  } catch {
    // There is no /proc to look into.
    return true
  }
}

function isLivingIn(group: number, pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name before the last parenthesis may hold anything.
    const [state, , its] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(its) === group && state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

function notStarted(file: string, { message, ...error }: Error): CommandFailure {
  const isMissing = 'code' in error && error.code === 'ENOENT'
  return new CommandFailure(EXIT.usage, isMissing ? `there is no command ${file}` : `can't run ${file}: ${message}`)
}
