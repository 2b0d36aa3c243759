// Runs commands in this process: the same code as bin/holdfast, without the start of Node.
import { EventEmitter } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { runCommand } from '../../src/cli/command.ts'
import type { Output, Terminal } from '../../src/cli/terminal.ts'
import { type Exit, runHoldfast } from './server.ts'

export interface TypedExit extends Exit {
  /** Both streams together, in order, as on a terminal. */
  shown: string
}

export interface Surroundings {
  environment?: Record<string, string>
  /** The content of standard input. */
  input?: string
  /** The width of the terminal; without it the output is a pipe. */
  columns?: number
}

/** A command that runs in this process. */
export interface Typed {
  /** What it has said so far. */
  said: Readonly<Pick<TypedExit, 'stdout' | 'stderr' | 'shown'>>
  signal: (signal: NodeJS.Signals) => void
  exit: Promise<TypedExit>
}

/** Runs the command to its end, without the settings in this process's environment. */
export const typeHoldfast = (words: readonly string[], around: Surroundings = {}): Promise<TypedExit> =>
  startHoldfast(words, around).exit

export function startHoldfast(words: readonly string[], around: Surroundings = {}): Typed {
  const said = { stdout: '', stderr: '', shown: '' }
  const output = (name: 'stdout' | 'stderr'): Output => {
    const write = (chunk: unknown, _: unknown, done: () => void) => {
      said[name] += String(chunk)
      said.shown += String(chunk)
      done()
    }
    const stream = new Writable({ write })
    const { columns } = around
    return columns === undefined ? stream : Object.assign(stream, { isTTY: true, columns, hasColors: () => true })
  }
  const exit = Promise.withResolvers<number>()
  const signals = new EventEmitter()
  const terminal: Terminal = {
    stdin: Readable.from(around.input ? [Buffer.from(around.input)] : []),
    stdout: output('stdout'),
    stderr: output('stderr'),
    env: { ...inherited(), ...around.environment },
    on: (signal, listener) => signals.on(signal, listener),
    once: (signal, listener) => signals.once(signal, listener),
    off: (signal, listener) => signals.off(signal, listener),
    exit: exit.resolve,
  }
  const ended = async () => {
    const code = await Promise.race([runCommand(words, terminal), exit.promise])
    return { code, signal: null, ...said }
  }
  return { said, signal: signal => void signals.emit(signal, signal), exit: ended() }
}

const inherited = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_')))

/** The same in a separate process, for what only a process has, such as an exit code or its trusted certificates. */
export const launchHoldfast = (words: readonly string[], { environment }: Surroundings = {}): Promise<Exit> =>
  runHoldfast(words, environment).exit
