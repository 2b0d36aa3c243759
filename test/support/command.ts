// Types commands in this process: the same code as bin/holdfast, without the time that it takes to start Node.
import { EventEmitter } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { runCommand } from '../../src/cli/command.ts'
import type { Output, Terminal } from '../../src/cli/terminal.ts'
import { type Exit, runHoldfast } from './server.ts'

export interface TypedExit extends Exit {
  /** What a terminal shows: both streams as they came. */
  shown: string
}

export interface Surroundings {
  environment?: Record<string, string>
  /** What comes from standard input. */
  input?: string
  /** Those of a terminal; without them the output is a pipe. */
  columns?: number
}

/** Runs the command to its end. It sees none of the settings that this process may have in its environment. */
export async function typeHoldfast(words: readonly string[], around: Surroundings = {}): Promise<TypedExit> {
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
  const code = await Promise.race([runCommand(words, terminal), exit.promise])
  return { code, signal: null, ...said }
}

const inherited = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_')))

/** The same in a process of its own: for what only a process has, such as an exit code or the certificates that it trusts. */
export const launchHoldfast = (words: readonly string[], { environment }: Surroundings = {}): Promise<Exit> =>
  runHoldfast(words, environment).exit
