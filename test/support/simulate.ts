// Runs the simulator's command.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../simulator/main.ts', import.meta.url))

/** What the command prints, and how it ends. */
export async function simulate(...args: string[]): Promise<{ code: number; printed: string; said: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const [printed, said] = await Promise.all(
    [child.stdout, child.stderr].map(async stream => (await stream.toArray()).join('')),
  )
  return { code: Number((await ended)[0]), printed: printed!, said: said! }
}
