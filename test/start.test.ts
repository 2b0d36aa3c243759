// From a clone to a server: what `npm ci` says on the oldest Node that we admit, and what `npm start` leaves behind.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const CLONE = fileURLToPath(new URL('..', import.meta.url))

interface Lock {
  packages: Record<string, { optional?: boolean; engines?: { node?: string } }>
}

test('no package asks for a newer Node than ours does, or npm would warn of it', () => {
  const { packages } = JSON.parse(readFileSync(`${CLONE}/package-lock.json`, 'utf8')) as Lock
  // '^20.19.0 || >=22.12.0' begins at 20.
  const oldest = (range = '*') => Math.min(...range.split('||').map(part => Number(/\d+/.exec(part)?.[0] ?? 0)))
  const ours = oldest(packages['']!.engines!.node)
  const newer = Object.entries(packages).filter(
    ([, { optional, engines }]) => !optional && oldest(engines?.node) > ours,
  )
  assert.deepEqual(newer, [])
})

test('npm that is told to stop takes its server with it', async () => {
  const env = { ...process.env, HOLDFAST_PORT: '0', HOLDFAST_DATABASE: 'sqlite::memory:' }
  // A group of its own, so that nobody is left behind by this test either.
  const npm = spawn('npm', ['start'], { cwd: CLONE, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const ended = once(npm, 'exit')
  try {
    const address = await addressIn(npm.stdout)
    assert.equal((await fetch(`${address}/healthz`)).status, 200)
    npm.kill('SIGTERM')
    await ended
    await assert.rejects(fetch(`${address}/healthz`))
  } finally {
    endGroup(npm.pid!)
  }
})

async function addressIn(output: Readable): Promise<string> {
  let said = ''
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    said += String(chunk)
    const [address] = /http:\/\/127[\d.]+:\d+/.exec(said) ?? []
    if (address !== undefined) return address
  }
  return assert.fail(said)
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // All of them are gone, as they should be.
  }
}
