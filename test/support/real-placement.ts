// Starts Debian's real Placement, if installed, on its own empty database.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Server } from './server.ts'

const PYTHON = '/usr/bin/python3'
const SCRIPT = fileURLToPath(new URL('real_placement.py', import.meta.url))
const START_TIMEOUT_MS = 120_000

/** Why it can't run here, or false; a value for `skip` of node:test. */
export const placementMissing =
  spawnSync(PYTHON, ['-c', 'import placement']).status !== 0 &&
  'needs: apt-get install --no-install-recommends python3-placement'

/** Any token is an admin's. */
export async function startRealPlacement(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-placement-'))
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as { port: number }
  listener.close()
  const child = spawn(PYTHON, [SCRIPT, folder, String(port)], { stdio: 'ignore' })
  const origin = `http://127.0.0.1:${port}`
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(folder, { recursive: true })
  }
  const deadline = performance.now() + START_TIMEOUT_MS
  while (performance.now() < deadline && child.exitCode === null) {
    const answer = await fetch(origin).catch(() => null)
    if (answer?.ok) return { origin, stop }
    await sleep(100)
  }
  await stop()
  throw new Error('Placement has not started')
}
