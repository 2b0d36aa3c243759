// Starts Debian's real Keystone, if installed, on its own database, with one admin.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MANAGE = '/usr/bin/keystone-manage'
const SERVE = '/usr/bin/keystone-wsgi-public'
const START_TIMEOUT_MS = 120_000

/** Why Keystone can't run here, or false; a value for `skip` of node:test. */
export const keystoneMissing =
  !(existsSync(MANAGE) && existsSync(SERVE)) && 'needs: apt-get install --no-install-recommends keystone'

export interface Keystone {
  url: string
  /** The password of the user admin, who is admin in the project admin. */
  password: string
  stop(): Promise<void>
}

export async function startKeystone(): Promise<Keystone> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-keystone-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const password = 'real-pw'
  const config = join(folder, 'keystone.conf')
  writeFileSync(
    config,
    [
      `[DEFAULT]\nlog_file = ${join(folder, 'log')}`,
      `[database]\nconnection = sqlite:///${join(folder, 'db')}`,
      `[fernet_tokens]\nkey_repository = ${join(folder, 'keys')}`,
      '[cache]\nenabled = false\n',
    ].join('\n'),
  )
  // Its output is ignored; a step that fails throws.
  const manage = (...words: string[]) => run(MANAGE, ['--config-file', config, ...words])
  const { username, gid } = userInfo()
  await manage('db_sync')
  // Keystone leaves readers open; without a write-ahead log these would block its own writers.
  const database = new DatabaseSync(join(folder, 'db'))
  database.exec('pragma journal_mode = wal')
  database.close()
  await manage('fernet_setup', '--keystone-user', username, '--keystone-group', String(gid))
  const at = ['public', 'internal', 'admin'].flatMap(kind => [`--bootstrap-${kind}-url`, `${url}/v3`])
  await manage('bootstrap', '--bootstrap-password', password, '--bootstrap-region-id', 'RegionOne', ...at)
  const env = { ...process.env, OS_KEYSTONE_CONFIG_FILES: config }
  const keystone = spawn(SERVE, ['--host', '127.0.0.1', '--port', String(port)], { env, stdio: 'ignore' })
  const stop = async () => {
    if (keystone.exitCode === null) {
      keystone.kill('SIGKILL')
      await once(keystone, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    for (const deadline = performance.now() + START_TIMEOUT_MS; !(await isUp(url)); await sleep(50)) {
      assert.ok(performance.now() < deadline, 'Keystone did not start in time')
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { url, password, stop }
}

const isUp = (url: string) =>
  fetch(`${url}/v3`).then(
    ({ ok }) => ok,
    () => false,
  )

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}
