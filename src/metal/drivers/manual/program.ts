// Runs a hook that is a program: without a shell, in a group of its own that ends with it, and with bounded output.
import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { guarding } from '../../../shared/guard.ts'
import { limits } from '../../../shared/limits.ts'
import { plainText } from '../../../shared/plain-text.ts'
import { deadlineMs, type Program } from './hooks.ts'
import { type End, lastLine, type Ran } from './verdict.ts'

interface Running {
  program: Program
  /** Words behind those of the command. */
  words: readonly string[]
  input: string
  /** Aborted when the process stops: then the program is ended. */
  signal: AbortSignal
}

/** Our environment has the settings of the service, and with them secrets. A program gets no more than these. */
const PASSED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']
const environment = () =>
  Object.fromEntries(PASSED.flatMap(name => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))

/** The program itself. As with all files of the configuration, a relative path begins where the service was started. */
export const fileOf = ({ command: [file] }: Program): string => (file!.includes('/') ? resolve(file!) : file!)

export async function runProgram({ program, words, input, signal }: Running): Promise<Ran> {
  const [, ...args] = program.command
  const file = fileOf(program)
  const child = spawn(file, [...args, ...words], {
    cwd: '/',
    env: environment(),
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const [all, out] = [new Tail(), new Tail()]
  child.stdout.on('data', (chunk: Buffer) => (all.add(chunk), out.add(chunk)))
  child.stderr.on('data', (chunk: Buffer) => all.add(chunk))
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})
  child.stdin.end(input)
  const end = await endOf(child, file, deadlineMs(program), signal)
  for (const stream of [child.stdout, child.stderr]) stream.destroy()
  return { end, output: all.text(), said: lastLine(out.text()) }
}

async function endOf(child: ChildProcess, file: string, ms: number, signal: AbortSignal): Promise<End> {
  if (child.pid === undefined) return new Promise(resolve => child.once('error', e => resolve(notStarted(file, e))))
  const group = -child.pid
  const guard = guarding(group, limits.hookGraceMs)
  const ended = new Promise<End>(resolve => {
    child.once('exit', (code, by) =>
      resolve(by === null ? { kind: 'exit', code: code! } : { kind: 'signal', signal: by }),
    )
  })
  const closed = new Promise(resolve => child.once('close', resolve))
  let isLate = false
  let killing: NodeJS.Timeout | undefined
  const end = () => {
    send(group, 'SIGTERM')
    killing ??= setTimeout(send, limits.hookGraceMs, group, 'SIGKILL')
  }
  const late = setTimeout(() => ((isLate = true), end()), ms)
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  const result = await ended
  clearTimeout(late)
  clearTimeout(killing)
  signal.removeEventListener('abort', end)
  // Whoever it left behind must not work on the machine when somebody else has it.
  send(group, 'SIGKILL')
  guard.stdin.end('over\n')
  // What it printed last may still be on its way. Someone who left the group may keep the output open for ever.
  await Promise.race([closed, sleep(limits.hookDrainMs)])
  return isLate ? { kind: 'late', ms } : result
}

function send(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(group, signal)
  } catch {
    // Nobody is left.
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program, or its first line names an interpreter that is not there',
  EACCES: 'it may not be executed',
  ENOEXEC: 'it is no program; a script begins with a line such as #!/bin/sh',
}

function notStarted(file: string, error: NodeJS.ErrnoException): End {
  return { kind: 'broken', why: `could not be started (${file}): ${REASONS[error.code ?? ''] ?? error.message}` }
}

/** The end of what was printed. */
class Tail {
  #chunks: Buffer[] = []
  #bytes = 0

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    // A character has four bytes at most. Whole chunks go, so each byte is copied once.
    while (this.#bytes - this.#chunks[0]!.length >= limits.hookOutputCharsMax * 4) {
      this.#bytes -= this.#chunks.shift()!.length
    }
  }

  text(): string {
    const whole = plainText(Buffer.concat(this.#chunks).toString('utf8'))
    return whole.slice(-limits.hookOutputCharsMax)
  }
}
