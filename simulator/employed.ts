// A worker as its employer sees it: a process that runs one seed at a time.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Outcome, Wish } from './worker.ts'

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))

export class Worker {
  readonly #child: ChildProcess

  /** The mutant: its name, or a change as JSON. */
  constructor(mutant?: string, environment: Record<string, string> = {}) {
    const env = { ...process.env, ...environment }
    this.#child = fork(WORKER, mutant ? [mutant] : [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env })
  }

  async run(wish: Wish): Promise<Outcome> {
    this.#child.send(wish)
    const over = new AbortController()
    const { signal } = over
    const [message] = (await Promise.race([
      once(this.#child, 'message', { signal }),
      once(this.#child, 'exit', { signal }).then(() => [{ error: 'the worker has died' }]),
    ])) as [Outcome | { error: string }]
    over.abort()
    if ('error' in message) throw new Error(`seed ${wish.seed}: ${message.error}`)
    return message
  }

  /** For one that hangs. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.send('end')
    await once(this.#child, 'exit')
  }
}
