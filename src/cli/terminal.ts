// The surroundings of a command: its streams, environment, signals and exit code. src/main.js passes its process.
// Tests pass their own, so that many commands can run in one process.
import { AsyncLocalStorage } from 'node:async_hooks'

type Input = NodeJS.ReadableStream & { isTTY?: boolean | undefined }

export type Output = NodeJS.WritableStream & {
  isTTY?: boolean | undefined
  columns?: number | undefined
  rows?: number | undefined
  hasColors?: (() => boolean) | undefined
}

type Listener = (signal: NodeJS.Signals) => void

/** The part of Node's `process` that commands use. */
export interface Terminal {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Record<string, string | undefined>
  exitCode?: number | string | null | undefined
  on: (signal: NodeJS.Signals, listener: Listener) => unknown
  once: (signal: NodeJS.Signals, listener: Listener) => unknown
  off: (signal: NodeJS.Signals, listener: Listener) => unknown
  /** Ends the command at once, even with requests under way. */
  exit: (code: number) => void
}

const current = new AsyncLocalStorage<Terminal>()

export const atTerminal = <T>(terminal: Terminal, work: () => Promise<T>): Promise<T> => current.run(terminal, work)

/** The terminal of the running command. Signal listeners run outside its context, and must keep their own reference. */
export const terminal = (): Terminal => current.getStore()!
