// The serial console of a machine over IPMI: `ipmitool sol activate`, which wants a terminal. script(1) makes one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { limits } from '../../../shared/limits.ts'
import { HardwareFailure, type SerialLine } from '../port.ts'
import type { Reach } from './power.ts'

/** ipmitool takes `~.` after a new line for its own. Nobody types this character, and what is typed is freed of it. */
const ESCAPE = '\x1f'
/**
 * In a group of its own, which ends when its input does: however this process ends, the session does too. script would
 * type ^D into the machine at the end of its input, so it never sees that end. The traps make the shells wait until
 * ipmitool has given the session back.
 */
const GUARDED = `trap : TERM
{ cat; kill 0; } | { trap : TERM; script -qfec "$COMMAND" -E never /dev/null <>/proc/self/fd/0; kill 0; }`
const READY = '[SOL Session operational'

export async function openSol(reach: Reach, takesOver: boolean): Promise<SerialLine> {
  // Finds the cipher suite, and says in words when the BMC does not answer.
  await reach.tool.run(reach.settings, ['power', 'status'], reach.signal)
  if (takesOver) await deactivate(reach)
  const line = new Sol(reach)
  await line.ready()
  return line
}

/** Fails when nobody has a session, which is fine. */
async function deactivate({ tool, settings, signal }: Reach): Promise<void> {
  try {
    await tool.run(settings, ['sol', 'deactivate'], signal)
  } catch (error) {
    if (!(error instanceof HardwareFailure)) throw error
  }
}

class Sol implements SerialLine {
  readonly output: AsyncIterable<Buffer>
  readonly #reach: Reach
  readonly #child
  readonly #over: Promise<unknown>
  #isClosed = false
  #beginning = ''

  constructor(reach: Reach) {
    const { file, args, env } = reach.tool.command(reach.settings, ['-e', ESCAPE, 'sol', 'activate'])
    // script takes a command of a shell. Its text is fixed; what a node says is in the environment.
    const words = args.map((word, at) => [`WORD_${at}`, word] as const)
    // ipmitool says that it is ready before it has set the terminal to pass on each byte as it is.
    const COMMAND = `stty raw -echo; exec "$TOOL" ${words.map(([name]) => `"$${name}"`).join(' ')}`
    this.#reach = reach
    this.#child = spawn('sh', ['-c', GUARDED], {
      env: { ...env, TERM: 'dumb', SHELL: '/bin/sh', TOOL: file, COMMAND, ...Object.fromEntries(words) },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    })
    this.#over = new Promise(resolve => this.#child.once('error', resolve).once('exit', resolve))
    this.#child.stdin.on('error', () => {})
    this.output = this.#read()
  }

  /** Resolves when the BMC has opened the line. */
  async ready(): Promise<void> {
    const { stdout } = this.#child
    const late = setTimeout(() => this.#child.stdin.end(), limits.ipmiCommandMs)
    try {
      while (!this.#beginning.includes('\n')) {
        const piece = stdout.read() as Buffer | null
        if (piece) this.#beginning += piece.toString('latin1')
        else if (stdout.readableEnded || stdout.destroyed || this.#child.pid === undefined) break
        else await Promise.race([once(stdout, 'readable'), once(stdout, 'close')])
      }
    } finally {
      clearTimeout(late)
    }
    if (this.#beginning.includes(READY)) return
    const said = this.#beginning.trim().slice(0, limits.ipmiWordsMax)
    this.#isClosed = true
    this.#child.stdin.end()
    await this.#over
    const { address } = this.#reach.settings
    throw new HardwareFailure(`The BMC at ${address} opened no serial console: ${said || 'script(1) is not installed'}`)
  }

  write(bytes: Buffer): void {
    if (!this.#isClosed) this.#child.stdin.write(bytes.filter(byte => byte !== ESCAPE.charCodeAt(0)))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#child.stdin.end()
    await this.#over
    await deactivate({ ...this.#reach, signal: AbortSignal.timeout(limits.ipmiFarewellMs) }).catch(() => {})
  }

  async *#read(): AsyncIterable<Buffer> {
    const rest = this.#beginning.slice(this.#beginning.indexOf('\n') + 1)
    if (rest !== '') yield Buffer.from(rest, 'latin1')
    for await (const piece of this.#child.stdout) yield piece as Buffer
    if (!this.#isClosed)
      throw new HardwareFailure(`The BMC at ${this.#reach.settings.address} ended the serial console.`)
  }
}
